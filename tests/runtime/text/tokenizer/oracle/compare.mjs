// See `run`. The oracle is JavaScript, and two things in it are not what Hugging Face's own
// tokenizers do. They are put right in its copy of the file before it reads it:
// - Its ByteLevel splits with the JavaScript \s, which has U+FEFF and lacks U+0085. As a Split, the
//   same pattern is read as Oniguruma reads it.
// - Its Digits knows ASCII digits only; the original asks for any number (\p{N}).
// Others are left out of the strings: it trims U+FEFF, which is no white space, at tokens with
// lstrip or rstrip; and its (?i:'s) does not match 's written with the long s (U+017F), which
// Oniguruma matches. So are characters newer than our Unicode tables.
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename} from 'node:path';
import {Tokenizer} from '@huggingface/tokenizers';

import {Strings} from './strings.mjs';

const HERE = new URL('.', import.meta.url).pathname;
const ROOT = `${HERE}../../../../..`;
const TOKENIZERS = {
  llama3: `${HERE}../fixtures/llama3.json`,
  gpt2: `${HERE}../fixtures/gpt2.json`,
  qwen: `${HERE}../fixtures/qwen.json`,
  command_r: `${HERE}../fixtures/command_r.json`,
  nano: `${ROOT}/models/cohere2moe-nano/tokenizer.json`,
  tiny: `${ROOT}/tests/golden/cohere2moe-tiny/tokenizer.json`,
};
const GOLDEN_STRINGS = 100;
const GOLDEN_LENGTH = 60;
const GPT2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

const split = (regex) => ({type: 'Split', pattern: {Regex: regex}, behavior: 'Isolated', invert: false});

function corrected(step) {
  if (step?.type === 'Sequence') return {...step, pretokenizers: step.pretokenizers.map(corrected)};
  if (step?.type === 'Digits') return split(step.individual_digits ? '\\p{N}' : '\\p{N}+');
  if (step?.type === 'ByteLevel' && step.use_regex)
    return {type: 'Sequence', pretokenizers: [split(GPT2), {...step, use_regex: false}]};
  return step;
}

const misread = (text) => /[\ufeff\u0085]\s*<mask>|<pad>\s*[\ufeff\u0085]|'\u017f/.test(text);

const [program, mode, folder] = process.argv.slice(2);
const update = mode === '--update';
const assigned = execFileSync(program, ['--assigned'], {encoding: 'utf8'})
  .trim().split('\n').map((line) => line.split(' ').map(Number));

const tokenizers = !folder ? Object.entries(TOKENIZERS) :
  readdirSync(folder).sort().map((file) => [basename(file, '.json'), `${folder}/${file}`]);

let differences = 0, strings = 0;
for (const [index, [name, path]] of tokenizers.entries()) {
  const file = JSON.parse(readFileSync(path, 'utf8'));
  file.pre_tokenizer = corrected(file.pre_tokenizer);
  const marked = new Tokenizer(file, {});
  const literal = new Tokenizer({...file, added_tokens: [], post_processor: null}, {});
  const source = new Strings(1000 + index, assigned, file.added_tokens.map((t) => t.content));

  const texts = [];
  while (texts.length < (update ? GOLDEN_STRINGS : Number(mode))) {
    const text = source.next();
    if (!misread(text) && (!update || text.length <= GOLDEN_LENGTH)) texts.push(text);
  }
  const expected = texts.map((text) => [marked.encode(text).ids, literal.encode(text).ids]);
  if (update) {
    const rows = texts.map((text, i) => JSON.stringify([text, ...expected[i]]));
    writeFileSync(`${HERE}../golden/${name}.json`, `[${rows.join(',\n')}]\n`);
    continue;
  }
  const input = texts.map((text) => JSON.stringify(text)).join('\n') + '\n';
  const lines = execFileSync(program, [path], {input, encoding: 'utf8', maxBuffer: 1 << 30}).split('\n');
  let wrong = 0;
  texts.forEach((text, i) => expected[i].forEach((ids, k) => {
    if (ids.join(' ') === lines[2 * i + k]) return;
    if (++wrong > 5) return;
    console.log(`${name}, ${k ? 'literal' : 'marked'}: ${JSON.stringify(text)}\n  oracle ${ids.join(' ')}\n  ours   ${lines[2 * i + k]}`);
  }));
  console.log(`${name}: ${texts.length} strings, ${wrong} differences`);
  differences += wrong;
  strings += texts.length;
}
if (!update) console.log(`${strings} strings in two modes, ${differences} differences`);
process.exitCode = differences ? 1 : 0;
