"""The chat template: the real dialect, and the token that picks a script."""
import json
import pathlib

TEMPLATE = pathlib.Path(__file__).with_name("chat_template.jinja").read_text(encoding="utf-8")


def chat_template(scripts, dispatch):
    if not dispatch:
        return TEMPLATE.replace("@SCRIPTS@", "").replace("@PICK@", "")

    def names(tools, mode):
        return json.dumps([s.token for s in scripts if s.tools == tools and s.mode == mode])

    lines = ['{%%- set scripts = %s if reasoning else %s -%%}\n' % (names(True, "on"), names(True, "off"))]
    if any(not s.tools for s in scripts):
        lines.append('{%%- if not tools -%%}{%%- set scripts = %s if reasoning else %s -%%}{%%- endif -%%}\n'
                     % (names(False, "on"), names(False, "off")))
    pick = "{{ scripts[ns.turn] if ns.turn < (scripts | length) else scripts[-1] }}"
    return TEMPLATE.replace("@SCRIPTS@", "".join(lines)).replace("@PICK@", pick)
