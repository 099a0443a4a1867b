/** Measurements in the browser: time to first content, frame times while scrolling, memory of the tab. */

const timeoutMs = 60_000;

/** Measures the milliseconds from the navigation until the text is visible, each time in a fresh context. */
export async function firstContent(browser, { url, text, times }) {
  const took = [];
  for (let time = 0; time < times; time += 1) {
    const { page, close } = await openPage(browser, url);
    took.push(await untilVisible(page, text));
    await close();
  }
  took.sort((a, b) => a - b);
  return { median: Math.round(took[Math.floor(times / 2)]), most: Math.round(took.at(-1)) };
}

export async function openPage(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(timeoutMs);
  const page = await context.newPage();
  await page.goto(url, { waitUntil: 'commit' });
  return { page, close: () => context.close() };
}

/** Returns the time on the page's own clock of the first frame that contains the text. */
export async function untilVisible(page, text) {
  const seen = await page.waitForFunction(
    (wanted) => document.querySelector('main')?.innerText.includes(wanted) && performance.now(),
    text,
    { polling: 'raf' },
  );
  return seen.jsonValue();
}

/** Measures frame times while the wheel turns without a pause. */
export async function wheelFrames(page, { seconds, delta }) {
  const counted = page.evaluate(
    (ms) =>
      new Promise((resolve) => {
        const frames = [];
        let last = performance.now();
        const until = last + ms;
        const next = (now) => {
          frames.push(now - last);
          last = now;
          if (now < until) requestAnimationFrame(next);
          else resolve(frames);
        };
        requestAnimationFrame(next);
      }),
    seconds * 1_000,
  );
  let isOver = false;
  const frames = counted.finally(() => (isOver = true));
  while (!isOver) await page.mouse.wheel(0, delta);
  const took = (await frames).slice(1).sort((a, b) => a - b);
  const at = (share) => Number((took[Math.floor(took.length * share)] ?? 0).toFixed(1));
  return { frames: took.length, p50: at(0.5), p95: at(0.95), most: at(0.9999) };
}

/** Returns the megabytes of the tab's heap after a garbage collection, and the number of DOM nodes. */
export async function memoryOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  const value = (name) => metrics.find((each) => each.name === name)?.value ?? 0;
  return { heapMB: Number((value('JSHeapUsedSize') / 2 ** 20).toFixed(1)), nodes: value('Nodes') };
}
