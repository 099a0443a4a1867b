/**
 * The web page, built by `npm run build` into dist/web, where the node serves it from.
 *
 * Addresses of files are relative, and the server sets them right for the depth of each page, so that it works behind any
 * sub-path. Nothing is inlined: the page's policy forbids it.
 */
import { join } from 'node:path';
import tailwind from '@tailwindcss/vite';
import { defineConfig } from 'vite';

const root = import.meta.dirname;

export default defineConfig({
  root,
  base: './',
  plugins: [tailwind()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(root, '../dist/web'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: true,
  },
  server: { proxy: { '/api': 'http://localhost:3333', '/openapi.json': 'http://localhost:3333' } },
});
