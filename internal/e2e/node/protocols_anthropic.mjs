// Drives the gateway with the npm SDK of Anthropic, unmodified, on each model.
// Prints one JSON object by model; the Go test compares. Arguments: base URL, key,
// the models, and those whose streams break off, each list with commas between.
import Anthropic from "@anthropic-ai/sdk";

const [baseURL, apiKey, models, broken] = process.argv.slice(2);
const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ""), apiKey, maxRetries: 0 });
const user = (content) => ({ role: "user", content });
const input_schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = ["get_time", "get_weather"].map((name) => ({ name, input_schema }));
const max_tokens = 4000;
const textOf = (message) => message.content.filter((b) => b.type === "text").map((b) => b.text).join("");

// ask gets one answer, whole or streamed.
const ask = async (stream, params) => {
  if (!stream) return client.messages.create({ max_tokens, ...params });
  return client.messages.stream({ max_tokens, ...params }).finalMessage();
};

// talk asks with tools, gives their results and asks again, thinking all the while.
const talk = async (model, stream) => {
  const messages = [user("Where am I?")];
  const thinking = { type: "enabled", budget_tokens: 1024 };
  const called = await ask(stream, { model, messages, tools, thinking });
  const calls = called.content.filter((b) => b.type === "tool_use");
  messages.push({ role: "assistant", content: called.content });
  messages.push(user(calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: `${c.name} in ${c.input.city}` }))));
  const after = await ask(stream, { model, messages, tools, thinking });
  return { called: calls.map((c) => c.name), after: textOf(after) };
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
  const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"], additionalProperties: false };
  const form = await ask(false, { model, messages: [user("Is it?")], output_config: { format: { type: "json_schema", schema } } });
  const counted = await client.messages.countTokens({ model, messages: [user("Say hello.")] });
  out[model] = {
    text: textOf(whole), model: whole.model,
    input: whole.usage.input_tokens + whole.usage.cache_read_input_tokens, output: whole.usage.output_tokens,
    streamed: textOf(streamed), streamedOutput: streamed.usage.output_tokens,
    talk: await talk(model, false), streamedTalk: await talk(model, true),
    ok: JSON.parse(textOf(form)).ok, counted: counted.input_tokens,
    error: await refused(() => ask(false, { model: `${model}-absent`, messages: [user("hi")] })),
  };
}
for (const model of broken.split(",")) {
  out[model] = { error: await refused(() => ask(true, { model, messages: [user("Say hello.")] })) };
}
console.log(JSON.stringify(out));
