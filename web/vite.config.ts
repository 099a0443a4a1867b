/**
 * Build of the web UI: `npm run build` writes dist/web, which the node serves.
 *
 * File URLs are relative, and the server adjusts them to the depth of each page, so that the UI works behind any
 * sub-path. Nothing is inlined: the content security policy forbids it.
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
