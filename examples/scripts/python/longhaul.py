"""Longhaul's verbs for Python: `import longhaul`, then `longhaul.progress(40, 'pass 1')`."""
import json
import os

_write = int(os.environ.get('LONGHAUL_WRITE', '3'))
_read = int(os.environ.get('LONGHAUL_READ', '4'))


def say(verb, text=''):
    """One line to the node. Newlines in the text become spaces."""
    os.write(_write, f'{verb} {str(text)}'.replace('\n', ' ').encode() + b'\n')


def run(text): say('run', text)
def done(text=''): say('done', text)
def err(text): say('err', text)
def resend(seconds, reason=''): say('resend', f'{int(seconds)}-{reason}')
def progress(percent, text=''): say('progress', f'{percent} {text}')
def checkpoint(value): say('checkpoint', json.dumps(value))
def result(value): say('result', json.dumps(value))
def attach(path): say('attach', path)
def tag(name): say('tag', name)
def group(name): say('group', name)


def dup(queue, seconds=0):
    """A copy of this job in another queue; answers its address."""
    say('dup', f'{int(seconds)}-X-{queue}')
    answer = b''
    while not answer.endswith(b'\n'):
        answer += os.read(_read, 1) or b'\n'
    word, _, rest = answer.decode().strip().partition(' ')
    if word != 'ok':
        raise RuntimeError(rest)
    return rest


def data():
    """What the producer gave the job."""
    with open(os.environ['LONGHAUL_DATA']) as file:
        return json.load(file)


def last_checkpoint():
    """What an earlier attempt left, or None."""
    try:
        with open(os.environ['LONGHAUL_CHECKPOINT']) as file:
            return json.load(file)
    except FileNotFoundError:
        return None
