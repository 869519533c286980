// Drives the gateway with the npm SDK, unmodified. Prints one JSON object of
// what it saw; the Go test compares. Arguments: base URL, key.
import OpenAI from "openai";

const [baseURL, apiKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const messages = [{ role: "user", content: "hi" }];
const out = {};

out.models = [];
for await (const m of client.models.list()) out.models.push(m.id);

const chat = await client.chat.completions.create({ model: "chat", messages });
out.chat = { model: chat.model, text: chat.choices[0].message.content, tokens: chat.usage.total_tokens };

const stream = await client.chat.completions.create({
  model: "org/chat:8b", messages, stream: true, stream_options: { include_usage: true },
});
out.stream = { text: "", models: [], tokens: 0 };
for await (const chunk of stream) {
  out.stream.text += chunk.choices[0]?.delta?.content ?? "";
  if (!out.stream.models.includes(chunk.model)) out.stream.models.push(chunk.model);
  if (chunk.usage) out.stream.tokens = chunk.usage.total_tokens;
}

const tools = [{
  type: "function",
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}];
const called = await client.chat.completions.create({ model: "chat", messages, tools });
const call = called.choices[0].message.tool_calls[0];
JSON.parse(call.function.arguments);
out.tools = { name: call.function.name, finish: called.choices[0].finish_reason };
const after = await client.chat.completions.create({
  model: "chat", tools,
  messages: [...messages, called.choices[0].message, { role: "tool", tool_call_id: call.id, content: "sunny" }],
});
out.tools.text = after.choices[0].message.content;

const streamed = client.chat.completions.stream({ model: "chat", messages, tools });
out.toolStream = (await streamed.finalChatCompletion()).choices[0].message.tool_calls[0].function.name;

const embedded = await client.embeddings.create({ model: "chat", input: ["one", "two"] });
out.embeddings = { count: embedded.data.length, numbers: typeof embedded.data[0].embedding[0] };

try {
  await client.chat.completions.create({ model: "absent", messages });
} catch (e) {
  out.unknown = { status: e.status, code: e.code };
}
try {
  await new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).models.list();
} catch (e) {
  out.wrongKey = { status: e.status, code: e.code };
}
console.log(JSON.stringify(out));
