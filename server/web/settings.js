// What the user chose: kept in this browser; the key only until the tab is closed.

const FIELDS = ['system', 'temperature', 'top_p', 'max_tokens', 'reasoning', 'tools', 'theme'];

export class Settings {
  constructor(dialog) {
    this.dialog = dialog;
    this.form = dialog.querySelector('form');
    this.error = dialog.querySelector('#settings-error');
    for (const name of FIELDS) this.field(name).value = localStorage.getItem(`nmc.${name}`) ?? '';
    this.field('key').value = sessionStorage.getItem('nmc.key') ?? '';
    this.form.addEventListener('submit', (event) => this.save(event));
    // Esc closes the dialog too; what cannot be used is then not taken.
    dialog.addEventListener('close', () => this.applyTheme());
    this.applyTheme();
  }

  field(name) {
    return this.form.elements[name];
  }
  get key() {
    return sessionStorage.getItem('nmc.key') ?? '';
  }
  open() {
    this.error.textContent = '';
    this.dialog.showModal();
  }

  save(event) {
    try {
      this.parseTools(this.field('tools').value);
    } catch (error) {
      event.preventDefault();
      this.error.textContent = `Tools: ${error.message}`;
      return;
    }
    for (const name of FIELDS) localStorage.setItem(`nmc.${name}`, this.field(name).value);
    sessionStorage.setItem('nmc.key', this.field('key').value);
  }

  parseTools(text) {
    const tools = text.trim() ? JSON.parse(text) : [];
    if (!Array.isArray(tools)) throw new Error('a list is expected');
    return tools;
  }

  applyTheme() {
    const theme = localStorage.getItem('nmc.theme') ?? '';
    theme ? document.documentElement.dataset.theme = theme : delete document.documentElement.dataset.theme;
  }

  /** The fields of a request besides its messages. */
  request() {
    const value = (name) => localStorage.getItem(`nmc.${name}`) ?? '';
    const request = {};
    for (const name of ['temperature', 'top_p', 'max_tokens'])
      if (value(name) !== '') request[name] = Number(value(name));
    if (value('reasoning')) request.reasoning_effort = value('reasoning');
    const tools = this.parseTools(value('tools'));
    if (tools.length) request.tools = tools;
    return request;
  }
  get system() {
    return localStorage.getItem('nmc.system') ?? '';
  }
}
