/** The page's entry: puts the app into the document. */
import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme } from './pages/settings.tsx';
import './style.css';

applyTheme();
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
