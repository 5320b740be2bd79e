// The default theme with the design tokens of the hosted pages, with a form that sends requests, and
// with the origin of the server in samples.
import { onContentUpdated, useData } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import '../../../server/src/http/pages/page/tokens.css';
import { originOfSamples, replaceOrigin } from './sample-origin.mjs';
import './theme.css';
import Layout from './Layout.vue';

export default {
  extends: DefaultTheme,
  Layout,
  setup() {
    const { theme } = useData();
    onContentUpdated(() => {
      const origin = originOfSamples(window.location, theme.value.isExport);
      const content = document.querySelector('.vp-doc');
      if (origin && content) replaceOrigin(content, origin);
    });
  },
};
