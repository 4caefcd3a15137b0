import { openai } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, streamText } from "ai";
import { z } from "zod";

const system = 'Mention "quokka".';
const keys = 'Write JSON with "name" (text) and "years" (integer).'; // not sent by this mode
const prompt = "Which queue should we use?";
const schema = z.object({ name: z.string(), years: z.int() });
const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = process.env;
const named = { name: "council", baseURL, apiKey };
const compatible = createOpenAICompatible(named)("council");
const strict = createOpenAICompatible({ ...named, supportsStructuredOutputs: true })("council");

async function streamed(model) {
  let said = "";
  for await (const piece of streamText({ model, system, prompt }).textStream) said += piece;
  return said;
}

export const chat = async () => (await generateText({ model: compatible, system, prompt })).text;

export const chat_openai = async () =>
  (await generateText({ model: openai.chat("council"), system, prompt })).text;

export const stream = () => streamed(compatible);

export const structured_json_object = async () =>
  (await generateObject({ model: compatible, system: `${system} ${keys}`, prompt, schema })).object;

export const structured_json_schema = async () =>
  (await generateObject({ model: strict, system, prompt, schema })).object;

export const structured_openai = async () =>
  (await generateObject({ model: openai.chat("council"), system, prompt, schema })).object;

export const responses = async () =>
  (await generateText({ model: openai("council"), system, prompt })).text;

export const responses_stream = () => streamed(openai("council"));

export const responses_object = async () =>
  (await generateObject({ model: openai("council"), system, prompt, schema })).object;
