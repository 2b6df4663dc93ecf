"""The markers of the cmd4 dialect, and the one error of this folder."""

SOT, EOT = "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>"
USER, CHATBOT, SYSTEM = "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|SYSTEM_TOKEN|>"
START_THINKING, END_THINKING = "<|START_THINKING|>", "<|END_THINKING|>"
START_TEXT, END_TEXT = "<|START_TEXT|>", "<|END_TEXT|>"
START_ACTION, END_ACTION = "<|START_ACTION|>", "<|END_ACTION|>"
START_RESULT, END_RESULT = "<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"
LOW = ["<PAD>", "<MASK_TOKEN>", "<BOS_TOKEN>", "<EOS_TOKEN>", "<UNK>"]
MARKERS = [SOT, EOT, USER, CHATBOT, SYSTEM, START_THINKING, END_THINKING, START_TEXT, END_TEXT,
           START_ACTION, END_ACTION, START_RESULT, END_RESULT]
BOS_ID = 2


class ScriptError(ValueError):
    """The script cannot be turned into a checkpoint; the text says where and why."""
