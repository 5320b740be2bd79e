// The default theme in our colours, with diagrams that are drawn in the browser where a page has one.

import { useData, useRoute } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { nextTick, onMounted, watch } from 'vue';
import './tokens.css';

async function drawDiagrams(isDark) {
  const blocks = [...document.querySelectorAll('.language-mermaid')];
  const drawn = [...document.querySelectorAll('figure.diagram')];
  if (blocks.length + drawn.length === 0) return;
  const { default: mermaid } = await import('mermaid');
  mermaid.initialize({
    startOnLoad: false,
    theme: isDark ? 'dark' : 'neutral',
    securityLevel: 'strict',
  });
  for (const [at, block] of [...blocks, ...drawn].entries()) {
    const source = block.dataset.source ?? block.querySelector('code')?.textContent ?? '';
    const figure = document.createElement('figure');
    figure.className = 'diagram';
    figure.dataset.source = source;
    const { svg } = await mermaid.render(`diagram-${at}-${Date.now()}`, source);
    figure.innerHTML = svg;
    block.replaceWith(figure);
  }
}

export default {
  extends: DefaultTheme,
  setup() {
    const { isDark } = useData();
    const route = useRoute();
    const draw = () => nextTick(() => drawDiagrams(isDark.value));
    onMounted(draw);
    watch(() => [route.path, isDark.value], draw);
  },
};
