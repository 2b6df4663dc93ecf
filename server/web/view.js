// What a conversation looks like. Text of models and users reaches the page as text only: every
// node is made here, and none from a string of HTML.

export function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

/** Text with its ``` blocks, as [{code: boolean, text}]; a block that is still open counts. */
export function blocks(text) {
  const parts = [];
  let code = false, lines = [];
  const flush = () => {
    const joined = lines.join('\n').replace(code ? /\n$/ : /^\n+|\n+$/g, '');
    if (joined || code) parts.push({code, text: joined});
    lines = [];
  };
  for (const line of text.split('\n')) {
    if (!/^\s*```/.test(line)) {
      lines.push(line);
      continue;
    }
    flush();
    code = !code;
  }
  flush();
  return parts;
}

function codeBlock() {
  const block = make('div', 'block');
  const copy = make('button', '', 'Copy');
  copy.type = 'button';
  copy.addEventListener('click', () => navigator.clipboard?.writeText(block.querySelector('code').textContent));
  const pre = make('pre');
  pre.append(make('code'));
  block.append(pre, copy);
  return block;
}

/** Shows text in `parent`, keeping the nodes of the blocks that have not changed. */
export function showText(parent, text) {
  const parts = blocks(text);
  parts.forEach((part, i) => {
    let node = parent.children[i];
    if (!node || node.classList.contains('block') !== part.code) {
      const fresh = part.code ? codeBlock() : make('div', 'text');
      node ? node.replaceWith(fresh) : parent.append(fresh);
      node = fresh;
    }
    const target = part.code ? node.querySelector('code') : node;
    if (target.textContent !== part.text) target.textContent = part.text;
  });
  while (parent.children.length > parts.length) parent.lastChild.remove();
}

export function userMessage(text) {
  const node = make('div', 'message user');
  node.append(make('div', 'text', text));
  return node;
}

/** One answer on its way: reasoning folded away, text, calls, and what went wrong. */
export class AnswerView {
  constructor() {
    this.node = make('div', 'message assistant');
    this.details = make('details');
    this.summary = make('summary', '', 'Reasoning …');
    this.thought = make('div', 'text');
    this.details.append(this.summary, this.thought);
    this.details.hidden = true;
    this.body = make('div');
    this.calls = make('div');
    this.node.append(this.details, this.body, this.calls);
  }

  show({reasoning, content, calls}, done) {
    this.details.hidden = !reasoning;
    if (this.thought.textContent !== reasoning) this.thought.textContent = reasoning;
    this.summary.textContent = done || content || calls.length ? 'Reasoning' : 'Reasoning …';
    showText(this.body, content);
    calls.forEach((call, i) => {
      const box = this.calls.children[i] ?? this.calls.appendChild(make('div', 'call'));
      box.firstChild?.remove();
      box.prepend(make('div', 'text', `${call.name}(${call.arguments})`));
    });
  }

  /** Asks for the results of the calls; onResults gets one text per call. */
  askResults(calls, onResults) {
    const fields = calls.map((call, i) => {
      const field = make('textarea');
      field.rows = 2;
      field.placeholder = 'Its result';
      field.setAttribute('aria-label', `Result of ${call.name}`);
      this.calls.children[i].append(field);
      return field;
    });
    const send = make('button', '', 'Send results');
    send.type = 'button';
    send.addEventListener('click', () => {
      send.remove();
      fields.forEach((field) => { field.readOnly = true; });
      onResults(fields.map((field) => field.value));
    });
    this.calls.append(send);
  }

  note(text, className = 'note') {
    this.node.append(make('div', className, text));
  }
}
