// Files of the documents in the world `business`: a drawn passport as PNG and a bill as PDF. Both files state
// that they are specimens.
import { crc32, deflateSync } from 'node:zlib';

interface DocumentFile {
  fileName: string;
  content(): Buffer;
}

/** Seven rows of five pixels of each character that is drawn, each row as a digit of base 32. */
const GLYPHS = new Map(
  (
    'A=ehhvhhh B=uhhuhhu C=ehggghe D=uhhhhhu E=vgguggv F=vgguggg G=ehgnhhe H=hhhvhhh I=e44444e ' +
    'J=11111he K=hikokih L=ggggggv M=hrllhhh N=hppljjh O=ehhhhhe P=uhhuggg Q=ehhhlid R=uhhukih ' +
    'S=fgge11u T=v444444 U=hhhhhhe V=hhhhha4 W=hhhllla X=hha4ahh Y=hha4444 Z=v1248gv 0=ehjlphe ' +
    '1=4c4444e 2=eh1248v 3=v2421he 4=26aiv22 5=vgu11he 6=68guhhe 7=v124888 8=ehhehhe 9=ehhf12c ' +
    '-=000v000 <=248g842'
  )
    .split(' ')
    .map((each) => [each[0] as string, each.slice(2)]),
);

type Color = readonly [red: number, green: number, blue: number];

const TEXT_COLOR: Color = [38, 42, 58];
const LABEL_COLOR: Color = [120, 130, 150];

function canvasOf(width: number, height: number, background: Color) {
  const pixels = Buffer.alloc(width * height * 3);
  function fill(x: number, y: number, w: number, h: number, color: Color): void {
    for (let row = y; row < y + h; row++) {
      for (let column = x; column < x + w; column++) pixels.set(color, (row * width + column) * 3);
    }
  }
  function ellipse(cx: number, cy: number, rx: number, ry: number, color: Color): void {
    for (let y = -ry; y <= ry; y++) {
      const halfWidth = Math.round(rx * Math.sqrt(1 - (y / ry) ** 2));
      fill(cx - halfWidth, cy + y, 2 * halfWidth, 1, color);
    }
  }
  function write(x: number, y: number, text: string, scale: number, color: Color): void {
    const plainText = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toUpperCase();
    for (const [position, character] of [...plainText].entries()) {
      for (const [row, digit] of [...(GLYPHS.get(character) ?? '')].entries()) {
        for (let bit = 0; bit < 5; bit++) {
          if (!((Number.parseInt(digit, 32) >> (4 - bit)) & 1)) continue;
          fill(x + (position * 6 + bit) * scale, y + row * scale, scale, scale, color);
        }
      }
    }
  }
  fill(0, 0, width, height, background);
  return { fill, ellipse, write, png: () => pngOf(width, height, pixels) };
}

/** The bytes of a PNG file of 24 bits per pixel. */
function pngOf(width: number, height: number, pixels: Buffer): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    checksum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, checksum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const lines = Array.from({ length: height }, (_, row) =>
    Buffer.concat([Buffer.alloc(1), pixels.subarray(row * width * 3, (row + 1) * width * 3)]),
  );
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

interface PassportInput {
  fullName: string;
  birthDate: string;
  number: string;
}

/** The page of a passport with the data of its holder. */
function drawPassport({ fullName, birthDate, number }: PassportInput): Buffer {
  const { fill, ellipse, write, png } = canvasOf(900, 620, [233, 238, 246]);
  fill(0, 0, 900, 76, [36, 62, 110]);
  write(36, 26, 'Passport', 4, [255, 255, 255]);
  write(560, 26, 'Specimen', 4, [255, 190, 120]);
  fill(40, 120, 230, 300, [206, 214, 228]);
  ellipse(155, 225, 58, 72, [150, 160, 180]);
  ellipse(155, 420, 100, 90, [150, 160, 180]);
  fill(40, 420, 230, 92, [233, 238, 246]);
  const family = fullName.split(' ').at(-1) as string;
  const rows = [
    ['Surname', family],
    ['Given names', fullName.slice(0, -family.length - 1)],
    ['Date of birth', birthDate],
    ['Passport no', number],
    ['Date of expiry', '2031-08-30'],
  ] as const;
  for (const [index, [label, value]] of rows.entries()) {
    write(310, 122 + index * 66, label, 2, LABEL_COLOR);
    write(310, 146 + index * 66, value, 4, TEXT_COLOR);
  }
  const line = `P<USA${family}<<${fullName.split(' ')[0]}`.padEnd(36, '<');
  fill(0, 500, 900, 120, [247, 249, 252]);
  write(24, 522, line, 4, TEXT_COLOR);
  write(
    24,
    570,
    `${number}<4USA${birthDate.replaceAll('-', '').slice(2)}`.padEnd(36, '<'),
    4,
    TEXT_COLOR,
  );
  return png();
}

export const passport = (input: PassportInput): DocumentFile => ({
  fileName: 'passport.png',
  content: () => drawPassport(input),
});

/** The bytes of a PDF file with one page of text. The text is limited to Latin-1. */
function pdfOf(lines: readonly (readonly [size: number, text: string])[]): Buffer {
  const escapeText = (text: string) => text.replaceAll(/[\\()]/g, '\\$&');
  let y = 770;
  const drawnLines = lines.map(([size, text]) => {
    y -= size * 1.7;
    return `BT /F1 ${size} Tf 64 ${Math.round(y)} Td (${escapeText(text)}) Tj ET`;
  });
  const stream = drawnLines.join('\n');
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R ' +
      '/Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    font,
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + trailer, 'latin1');
}

/** A bill as proof of an address. */
export function bill({ fullName, address }: { fullName: string; address: string }): DocumentFile {
  const lines = [
    [22, 'Lakeside Water & Power'],
    [10, 'Specimen. This bill is fictitious.'],
    [10, ' '],
    [13, fullName],
    [13, address],
    [10, ' '],
    [16, 'Statement of September'],
    [11, 'Account 40-77120-3'],
    [11, 'Electricity  412 kWh     61.80 USD'],
    [11, 'Water          9 m3     27.45 USD'],
    [11, 'Service                  12.00 USD'],
    [13, 'Amount due             101.25 USD'],
  ] as const;
  return { fileName: 'utility-bill.pdf', content: () => pdfOf(lines) };
}
