/** The page's entry: puts the app into the document. */
import { render } from 'preact';
import { App } from './app.tsx';
import { addressOf } from './data/base.ts';
import { applyTheme } from './pages/settings.tsx';
import './style.css';

applyTheme();
// A browser reads this address anew whenever the page's own changes, and would go astray behind a sub-path.
document.querySelector('link[rel=icon]')?.setAttribute('href', addressOf('icon.svg'));
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
