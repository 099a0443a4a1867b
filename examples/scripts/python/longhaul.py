"""Longhaul's script commands for Python: `import longhaul`, then `longhaul.progress(40, 'pass 1')`."""
import json
import os

_write = int(os.environ.get('LONGHAUL_WRITE', '3'))
_read = int(os.environ.get('LONGHAUL_READ', '4'))


def send_command(verb, text=''):
    """Sends a command to the node. Newlines in the text become spaces."""
    os.write(_write, f'{verb} {str(text)}'.replace('\n', ' ').encode() + b'\n')


def run(text): send_command('run', text)
def done(text=''): send_command('done', text)
def err(text): send_command('err', text)
def resend(seconds, reason=''): send_command('resend', f'{int(seconds)}-{reason}')
def progress(percent, text=''): send_command('progress', f'{percent} {text}')
def checkpoint(value): send_command('checkpoint', json.dumps(value))
def result(value): send_command('result', json.dumps(value))
def attach(path): send_command('attach', path)
def tag(name): send_command('tag', name)
def group(name): send_command('group', name)


def dup(queue, seconds=0):
    """Adds a copy of this job to another queue and returns its URL."""
    send_command('dup', f'{int(seconds)}-X-{queue}')
    answer = b''
    while not answer.endswith(b'\n'):
        answer += os.read(_read, 1) or b'\n'
    word, _, rest = answer.decode().strip().partition(' ')
    if word != 'ok':
        raise RuntimeError(rest)
    return rest


def data():
    """Returns the job's data."""
    with open(os.environ['LONGHAUL_DATA']) as file:
        return json.load(file)


def last_checkpoint():
    """Returns the checkpoint of an earlier attempt, or None."""
    try:
        with open(os.environ['LONGHAUL_CHECKPOINT']) as file:
            return json.load(file)
    except FileNotFoundError:
        return None
