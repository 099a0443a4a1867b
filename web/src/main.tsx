/** Entry point: renders the app into the document. */
import { render } from 'preact';
import { App } from './app.tsx';
import { addressOf } from './data/base.ts';
import { applyTheme } from './pages/settings.tsx';
import './style.css';

applyTheme();
// The browser resolves a relative icon URL against each new location, which breaks behind a sub-path.
document.querySelector('link[rel=icon]')?.setAttribute('href', addressOf('icon.svg'));
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
