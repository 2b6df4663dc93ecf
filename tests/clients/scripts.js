// What the scripted models of these tests say.
import { action, said, thought } from "./scripted.js";

export const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather in a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
      required: ["city"],
      additionalProperties: false,
    },
  },
};

export const kThought = "Greet them.";
export const kGreeting = "Grüße! \u{1F642} Hello, world.";

// Says the same greeting to everybody; an emoji is split over three tokens.
export const greeting = {
  reasoning_on: thought(kThought, ...said("Grüße! ", { hex: "f09f" }, { hex: "99" }, { hex: "82" },
    " Hello", ", world.")),
  completion: ["plain ", "continuation"],
};

// Calls twice, then reports. Without tools, it says JSON.
export const agent = {
  turns: [
    { reasoning_on: thought("Both cities.", ...action([["weather", { city: "Bonn" }],
      ["weather", { city: "Rome", days: 2 }]])) },
    { reasoning_on: thought("I know it.", ...said("Bonn is warm", " and Rome is hot.")) },
  ],
  no_tools: { reasoning_on: thought("As JSON.", ...said('{"city": "Oslo", ', '"degrees": 7}')) },
};

export const endless = { reasoning_off: { chunks: ["<|START_TEXT|>", "tick ", "tock "], loop: 1 } };
