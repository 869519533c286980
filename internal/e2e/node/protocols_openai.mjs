// Drives the gateway with the npm SDK of OpenAI, unmodified, on each model. Prints
// one JSON object by model; the Go test compares. Arguments: base URL, key, the
// models, and those whose streams break off, each list with commas between.
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const [baseURL, apiKey, models, broken] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const user = (content) => ({ role: "user", content });
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = ["get_time", "get_weather"].map((name) => ({ type: "function", function: { name, parameters } }));

// ask gets one answer, whole or streamed.
const ask = async (stream, params) => {
  if (!stream) return client.chat.completions.create(params);
  return client.chat.completions.stream({ ...params, stream_options: { include_usage: true } }).finalChatCompletion();
};

// talk asks with tools, gives their results and asks again.
const talk = async (model, stream) => {
  const messages = [user("Where am I?")];
  const called = (await ask(stream, { model, messages, tools, reasoning_effort: "low" })).choices[0].message;
  messages.push(called);
  for (const call of called.tool_calls) {
    const content = `${call.function.name} in ${JSON.parse(call.function.arguments).city}`;
    messages.push({ role: "tool", tool_call_id: call.id, content });
  }
  const after = await ask(stream, { model, messages, tools, reasoning_effort: "low" });
  return { called: called.tool_calls.map((c) => c.function.name), after: after.choices[0].message.content };
};

const refused = async (f) => {
  try {
    await f();
    return {};
  } catch (e) {
    return { name: e.constructor.name, status: e.status ?? 0 };
  }
};

const out = {};
for (const model of models.split(",")) {
  const whole = await ask(false, { model, messages: [user("Say hello.")] });
  const streamed = await ask(true, { model, messages: [user("Say more.")] });
  const form = await client.chat.completions.parse({
    model, messages: [user("Is it?")], response_format: zodResponseFormat(z.object({ ok: z.boolean() }), "form"),
  });
  out[model] = {
    text: whole.choices[0].message.content, model: whole.model, input: whole.usage.prompt_tokens, output: whole.usage.completion_tokens,
    streamed: streamed.choices[0].message.content, streamedOutput: streamed.usage.completion_tokens,
    talk: await talk(model, false), streamedTalk: await talk(model, true),
    ok: form.choices[0].message.parsed.ok,
    error: await refused(() => ask(false, { model: `${model}-absent`, messages: [user("hi")] })),
  };
}
for (const model of broken.split(",")) {
  out[model] = { error: await refused(() => ask(true, { model, messages: [user("Say hello.")] })) };
}
console.log(JSON.stringify(out));
