import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const system = 'Mention "quokka".';
const question = "Which queue should we use?";
const messages = [{ role: "system", content: system }, { role: "user", content: question }];
const Queue = z.object({ name: z.string(), years: z.int() });
const client = new OpenAI();

export async function chat() {
  const reply = await client.chat.completions.create({ model: "council", messages });
  return reply.choices[0].message.content;
}

export async function stream() {
  let said = "";
  const chunks = await client.chat.completions.create({ model: "council", messages, stream: true });
  for await (const chunk of chunks) said += chunk.choices[0]?.delta?.content ?? "";
  return said;
}

export async function structured_parse() {
  const response_format = zodResponseFormat(Queue, "queue");
  const reply = await client.chat.completions.parse({ model: "council", messages, response_format });
  return reply.choices[0].message.parsed;
}

export async function responses() {
  const asked = { model: "council", instructions: system, input: question };
  return (await client.responses.create(asked)).output_text;
}

export async function responses_stream() {
  let said = "";
  const asked = { model: "council", instructions: system, input: question, stream: true };
  for await (const event of await client.responses.create(asked))
    if (event.type === "response.output_text.delta") said += event.delta;
  return said;
}

export async function responses_parse() {
  const text = { format: zodTextFormat(Queue, "queue") };
  const reply = await client.responses.parse({ model: "council", input: messages, text });
  return reply.output_parsed;
}
