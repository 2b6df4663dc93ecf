// The chat page: a conversation in this tab with the server that sent the page.
import {Settings} from './settings.js';
import {answer, modelName} from './stream.js';
import {AnswerView, make, userMessage} from './view.js';

const at = (id) => document.getElementById(id);
const settings = new Settings(at('settings'));
let messages = [];
let running = null;  // the AbortController of the answer on its way
let model = '';

function showState() {
  at('send').hidden = running !== null;
  at('stop').hidden = running === null;
  at('messages').setAttribute('aria-busy', String(running !== null));
}

// Follows the text down, unless the reader has scrolled up.
function keepingEnd(change) {
  const box = at('messages');
  const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
  change();
  if (atEnd) box.scrollTop = box.scrollHeight;
}

function showSpeed(state, usage) {
  const seconds = (performance.now() - state.first) / 1000;
  const tokens = usage?.completion_tokens ?? state.pieces;
  if (!state.first || tokens < 2 || seconds <= 0) return;
  const speed = (tokens - 1) / seconds;
  at('speed').textContent = `${speed.toFixed(speed < 10 ? 1 : 0)} tokens/s`;
  // Narrow screens have no room for it.
  if (usage) at('speed').append(make('span', '', ` · ${usage.prompt_tokens} tokens read, ${tokens} written`));
}

function take(state, delta) {
  if (delta.reasoning || delta.content || delta.call) {
    state.first ||= performance.now();
    ++state.pieces;
  }
  state.reasoning += delta.reasoning ?? '';
  state.content += delta.content ?? '';
  if (delta.call) {
    const {index, id, name, arguments: text} = delta.call;
    const call = state.calls[index] ??= {id: '', name: '', arguments: ''};
    call.id ||= id ?? '';
    call.name ||= name ?? '';
    call.arguments += text;
  }
  state.finish = delta.finish ?? state.finish;
  if (delta.usage) state.usage = delta.usage;
}

function remember({reasoning, content, calls}) {
  if (!reasoning && !content && !calls.length) return;
  const message = {role: 'assistant', content};
  if (reasoning) message.reasoning_content = reasoning;
  if (calls.length) {
    message.tool_calls = calls.map((call) => ({
      id: call.id, type: 'function', function: {name: call.name, arguments: call.arguments}}));
  }
  messages.push(message);
}

function finish(view, state) {
  view.show(state, true);
  showSpeed(state, state.usage);
  if (state.finish === 'length') view.note('The answer was cut: no more tokens were allowed or fit.');
  if (state.finish !== 'tool_calls') return;
  const conversation = messages;
  view.askResults(state.calls, (results) => {
    if (running || conversation !== messages) return;
    results.forEach((content, i) => messages.push({role: 'tool', tool_call_id: state.calls[i].id, content}));
    run();
  });
}

async function run() {
  const view = new AnswerView();
  const state = {reasoning: '', content: '', calls: [], pieces: 0, first: 0};
  const abort = running = new AbortController();
  const conversation = messages;
  showState();
  keepingEnd(() => at('messages').append(view.node));
  let drawn = true;
  const draw = () => {
    drawn = true;
    if (running !== abort) return;
    keepingEnd(() => view.show(state, false));
    showSpeed(state);
  };
  try {
    const system = settings.system ? [{role: 'system', content: settings.system}] : [];
    const request = {model, messages: [...system, ...messages], ...settings.request()};
    await answer(request, settings.key, abort.signal, (delta) => {
      take(state, delta);
      if (drawn) requestAnimationFrame(draw);
      drawn = false;
    });
    if (conversation === messages) remember(state);
    keepingEnd(() => finish(view, state));
  } catch (error) {
    // What was said before stays part of the conversation; half a call does not.
    const said = {...state, calls: []};
    if (conversation === messages) remember(said);
    keepingEnd(() => {
      view.show(said, true);
      abort.signal.aborted ? view.note('Stopped.') : view.note(error.message, 'error');
    });
  }
  if (running === abort) running = null;
  showState();
}

function send() {
  const text = at('question').value.trim();
  if (!text || running) return;
  at('question').value = '';
  grow();
  messages.push({role: 'user', content: text});
  at('messages').append(userMessage(text));
  at('messages').scrollTop = at('messages').scrollHeight;
  run();
}

function startOver() {
  running?.abort();
  running = null;
  messages = [];
  at('messages').replaceChildren();
  at('speed').textContent = '';
  showState();
  at('question').focus();
}

function grow() {
  const box = at('question');
  box.rows = Math.min(12, box.value.split('\n').length);
}

async function connect() {
  try {
    model = await modelName(settings.key);
    at('model').textContent = document.title = model;
  } catch (error) {
    at('speed').textContent = error.message;
  }
}

at('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  send();
});
at('question').addEventListener('input', grow);
at('question').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  send();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !at('settings').open) running?.abort();
  if (event.key.toLowerCase() === 'o' && event.ctrlKey && event.shiftKey) {
    event.preventDefault();
    startOver();
  }
});
at('stop').addEventListener('click', () => running?.abort());
at('new').addEventListener('click', startOver);
at('open-settings').addEventListener('click', () => settings.open());
at('settings').addEventListener('close', connect);
connect();
