/** The data of server-sent events as they come, whole messages whatever the pieces they arrive in. */

/** A message that grows beyond this is nobody's. */
const MAX_MESSAGE = 16 * 1024 * 1024;

export async function* messagesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let open = '';
  for await (const chunk of chunks) {
    open += decoder.decode(chunk, { stream: true });
    const messages = open.split('\n\n');
    open = messages.pop() ?? '';
    if (open.length > MAX_MESSAGE) throw new Error('a message without an end');
    for (const message of messages) {
      const data = dataOf(message);
      if (data !== null) yield data;
    }
  }
}

/** Null for a comment. */
function dataOf(message: string): string | null {
  const lines = message.split('\n').filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? null : lines.map((line) => line.replace(/^data: ?/, '')).join('\n');
}
