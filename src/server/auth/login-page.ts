/**
 * The page of the login: a field for a token, and a script of its own that sends it. No inline script or style, since
 * the policy of every answer forbids them; nothing of a request is ever put into it. Addresses are relative, so that it works
 * behind any sub-path.
 */
export const LOGIN_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in to Longhaul</title>
<h1>Longhaul</h1>
<form id="login" autocomplete="off">
<label for="token">Token</label>
<input id="token" type="password" size="72" required>
<button>Log in</button>
</form>
<p id="said" role="status"></p>
<p>A token is made by <code>longhaul token</code>. A node prints a link that logs in once when it starts.</p>
<script src="login.js"></script>
</html>
`;

export const LOGIN_SCRIPT = `'use strict';
const said = document.getElementById('said');
async function logIn(secret) {
  said.textContent = 'Logging in …';
  try {
    const headers = { authorization: 'Bearer ' + secret };
    const answer = await fetch('api/login', { method: 'POST', headers });
    if (answer.ok) location.replace('./');
    else said.textContent = (await answer.json()).detail;
  } catch {
    said.textContent = 'The node cannot be reached.';
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
