/**
 * The login page: a field for a token, and a script that sends it. It has no inline script or style, since the content
 * security policy forbids them, and contains nothing of the request. URLs are relative, so that it works behind a
 * sub-path.
 */
import { STYLE_ADDRESS } from '../http/page-style.ts';

export const LOGIN_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in · Longhaul</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="${STYLE_ADDRESS.slice(1)}">
<main class="card">
<h1>Log in to Longhaul</h1>
<form id="login" autocomplete="off">
<label for="token">Token</label>
<input id="token" type="password" required autofocus>
<button>Log in</button>
</form>
<p id="status" role="status"></p>
<p class="soft">Create a token with <code>longhaul token</code>. A node prints a one-time login link when it starts.</p>
</main>
<script src="login.js"></script>
</html>
`;

export const LOGIN_SCRIPT = `'use strict';
const status = document.getElementById('status');
async function logIn(secret) {
  status.textContent = 'Logging in …';
  try {
    const headers = { authorization: 'Bearer ' + secret };
    const answer = await fetch('api/login', { method: 'POST', headers });
    if (answer.ok) location.replace('./');
    else status.textContent = (await answer.json()).detail;
  } catch {
    status.textContent = 'The node cannot be reached.';
  }
}
document.getElementById('login').addEventListener('submit', (event) => {
  event.preventDefault();
  void logIn(document.getElementById('token').value.trim());
});
const code = location.hash.slice(1);
if (code !== '') {
  history.replaceState(null, '', 'login');
  void logIn(code);
}
`;
