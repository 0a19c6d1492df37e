import { defineConfig } from 'vitest/config';

// File names carry no hash: Django's static storage adds one, and the template can name the files.
export default defineConfig({
  base: '/static/build/',
  build: {
    outDir: '../static/build',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    // Inlined assets would be data: URLs, which the page's content security policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    rollupOptions: {
      input: 'src/main.ts',
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: 'chunk-[name].js',
        assetFileNames: (asset) => (asset.names?.some((n) => n.endsWith('.css')) ? 'app.css' : 'assets/[name][extname]'),
      },
    },
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node', css: true },
});
