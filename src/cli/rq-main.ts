#!/usr/bin/env node
/** `longhaul-rq`: RQ's command line under a name that can be linked as `rq`. */
process.argv.splice(2, 0, 'rq');
await import('./main.ts');
