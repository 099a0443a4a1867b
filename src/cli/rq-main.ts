#!/usr/bin/env node
/** `longhaul-rq`: the RQ command line as a program of its own, which can be linked as `rq`. */
process.argv.splice(2, 0, 'rq');
await import('./main.ts');
