// Drives the chat page of a real server in headless chromium. See `run`.
import assert from 'node:assert/strict';
import {chromium} from 'playwright-core';

const [url, screenshots] = process.argv.slice(2);
const EVIL = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script><b>bold</b>';

const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
const requests = [], complaints = [];

async function open(options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 800}, ...options});
  const page = await context.newPage();
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(url);
  await page.waitForFunction(() => document.title !== 'nmc');
  return page;
}

// From here on, chat requests of the page get these deltas; the bodies are collected.
async function answerWith(page, ...answers) {
  const bodies = [];
  await page.unroute('**/v1/chat/completions');
  await page.route('**/v1/chat/completions', (route) => {
    bodies.push(route.request().postDataJSON());
    const [deltas, finish = 'stop'] = answers[Math.min(bodies.length, answers.length) - 1];
    const chunks = deltas.map((delta) => ({choices: [{index: 0, delta, finish_reason: null}]}));
    chunks.push({choices: [{index: 0, delta: {}, finish_reason: finish}]});
    chunks.push({choices: [], usage: {prompt_tokens: 7, completion_tokens: deltas.length}});
    const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    route.fulfill({contentType: 'text/event-stream', body: `: ping\n\n${body}data: [DONE]\n\n`});
  });
  return bodies;
}

async function ask(page, text) {
  await page.fill('#question', text);
  await page.press('#question', 'Enter');
}
const idle = (page) => page.waitForSelector('#messages[aria-busy="false"]');
const last = (page) => page.locator('.assistant').last();

const tests = {
  async 'the server forbids what the page does not need'() {
    for (const path of ['/', '/web/chat.js', '/web/chat.css']) {
      const response = await fetch(new URL(path, url));
      assert.equal(response.status, 200, path);
      const policy = response.headers.get('content-security-policy');
      assert.match(policy, /default-src 'none'/);
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    }
    assert.equal((await fetch(new URL('/web/none.js', url))).status, 404);
    assert.equal((await fetch(new URL('/', url), {method: 'POST'})).status, 404);
  },

  async 'the model answers'() {
    const page = await open();
    await ask(page, 'Hello');
    await page.waitForFunction(() => document.querySelector('.assistant')?.textContent.trim());
    await page.waitForSelector('#stop', {state: 'visible'}).catch(() => {});
    await page.keyboard.press('Escape');
    await idle(page);
    assert.equal(await page.locator('.user').textContent(), 'Hello');
    assert.equal(await page.locator('.error').count(), 0);
    await page.context().close();
  },

  async 'text of a model stays text'() {
    const page = await open();
    await answerWith(page, [[{reasoning_content: EVIL}, {content: EVIL}, {content: `\n\`\`\`html\n${EVIL}\n\`\`\`\n`}]]);
    await ask(page, EVIL);
    await idle(page);
    assert.equal(await page.locator('.assistant img, .assistant script, .assistant b, .user img').count(), 0);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await last(page).locator('details .text').textContent(), EVIL);
    assert.equal(await last(page).locator('pre code').textContent(), EVIL);
    assert.equal(await page.locator('.user').textContent(), EVIL);
    await page.context().close();
  },

  async 'reasoning is folded, and goes back with the history'() {
    const page = await open();
    const bodies = await answerWith(page,
      [[{role: 'assistant', content: ''}, {reasoning_content: 'Let me '}, {reasoning_content: 'see.'}, {content: 'Four'}, {content: '.'}]],
      [[{content: 'Five.'}], 'length']);
    await ask(page, '2+2?');
    await idle(page);
    const details = last(page).locator('details');
    assert.equal(await details.getAttribute('open'), null);
    assert.equal(await details.locator('.text').isVisible(), false);
    await details.locator('summary').click();
    assert.equal(await details.locator('.text').textContent(), 'Let me see.');
    assert.match(await page.textContent('#speed'), /^[\d.]+ tokens\/s · 7 tokens read, 5 written$/);
    await ask(page, 'And 2+3?');
    await idle(page);
    assert.deepEqual(bodies[1].messages, [
      {role: 'user', content: '2+2?'},
      {role: 'assistant', content: 'Four.', reasoning_content: 'Let me see.'},
      {role: 'user', content: 'And 2+3?'}]);
    assert.match(await last(page).textContent(), /was cut/);
    await page.context().close();
  },

  async 'calls are shown, and their results sent'() {
    const page = await open();
    await page.click('#open-settings');
    await page.fill('[name=tools]', '{');
    await page.click('dialog button');
    assert.match(await page.textContent('#settings-error'), /^Tools: /);
    const tools = [{type: 'function', function: {name: 'weather', parameters: {type: 'object'}}}];
    await page.fill('[name=tools]', JSON.stringify(tools));
    await page.fill('[name=system]', 'Be brief.');
    await page.fill('[name=temperature]', '0.5');
    await page.click('dialog button');
    const call = (fields) => ({tool_calls: [{index: 0, ...fields}]});
    const bodies = await answerWith(page,
      [[call({id: 'call_1', function: {name: 'weather', arguments: ''}}), call({function: {arguments: '{"city":'}}),
        call({function: {arguments: '"<i>Bern"}'}})], 'tool_calls'],
      [[{content: 'Sunny.'}]]);
    await ask(page, 'Weather?');
    await idle(page);
    assert.equal(await last(page).locator('.call .text').textContent(), 'weather({"city":"<i>Bern"})');
    await last(page).locator('.call textarea').fill('sun');
    if (screenshots) await page.screenshot({path: `${screenshots}/calls.png`});
    await page.click('text=Send results');
    await page.waitForFunction(() => document.querySelectorAll('.assistant').length === 2);
    await idle(page);
    assert.deepEqual(bodies[0].tools, tools);
    assert.equal(bodies[0].temperature, 0.5);
    assert.deepEqual(bodies[1].messages.slice(2), [
      {role: 'assistant', content: '', tool_calls: [{id: 'call_1', type: 'function',
        function: {name: 'weather', arguments: '{"city":"<i>Bern"}'}}]},
      {role: 'tool', tool_call_id: 'call_1', content: 'sun'}]);
    assert.equal(bodies[1].messages[0].content, 'Be brief.');
    await page.context().close();
  },

  async 'an answer can be stopped, and errors are shown'() {
    const page = await open();
    await page.route('**/v1/chat/completions', () => {});  // never answers
    await ask(page, 'one');
    await page.click('#stop');
    await idle(page);
    assert.match(await last(page).textContent(), /Stopped\./);
    await page.unroute('**/v1/chat/completions');
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({status: 429, body: JSON.stringify({error: {message: 'Too <b>many</b> requests.'}})}));
    await ask(page, 'two');
    await idle(page);
    assert.equal(await last(page).locator('.error').textContent(), 'Too <b>many</b> requests.');
    complaints.splice(0);  // the browser's own line about the 429
    await page.context().close();
  },

  async 'the keyboard is enough'() {
    const page = await open();
    const bodies = await answerWith(page, [[{content: 'ok'}]]);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'question');
    await page.keyboard.type('two');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('lines');
    await page.keyboard.press('Enter');
    await idle(page);
    assert.equal(bodies[0].messages[0].content, 'two\nlines');
    await page.keyboard.press('Control+Shift+O');
    assert.equal(await page.locator('.message').count(), 0);
    await page.context().close();
  },

  async 'light and dark, wide and narrow'() {
    for (const [name, colorScheme, width] of [['wide-light', 'light', 1280], ['wide-dark', 'dark', 1280],
      ['narrow-light', 'light', 390], ['narrow-dark', 'dark', 390]]) {
      const viewport = {width, height: 800};
      const page = await open({colorScheme, viewport});
      await answerWith(page, [[{reasoning_content: 'The user wants code.'},
        {content: 'Here is a function:\n\n```python\ndef greet(name):\n    return f"Hello, {name}! This line is long enough to scroll on a narrow screen."\n```\n\nIt takes a name and returns a greeting.'}]]);
      await ask(page, 'Write a function that greets somebody by name.');
      await idle(page);
      const [page_color, text_color] = await page.evaluate(() => {
        const style = getComputedStyle(document.body);
        return [style.backgroundColor, style.color].map((c) => Number(c.match(/\d+/)[0]));
      });
      assert.equal(page_color < text_color, colorScheme === 'dark');
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.equal(overflow, 0, name);
      if (screenshots) await page.screenshot({path: `${screenshots}/${name}.png`});
      await page.click('#open-settings');
      const done = await page.locator('#settings button').boundingBox();
      assert.ok(done.y + done.height <= viewport.height, `${name}: the settings' button is out of sight`);
      if (screenshots) await page.screenshot({path: `${screenshots}/${name}-settings.png`});
      await page.context().close();
    }
  },

  async 'nothing leaves for another host'() {
    assert.ok(requests.length > 10);
    for (const request of requests) assert.ok(request.startsWith(url) || request.startsWith('data:'), request);
    assert.deepEqual(complaints, []);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
