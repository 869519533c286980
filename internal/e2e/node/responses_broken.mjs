// Streams one answer of the gateway's Responses with the npm SDK and prints how
// it ended. Arguments: base URL, key.
import OpenAI from "openai";

const [baseURL, apiKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const out = { text: "", types: [], error: null };
try {
  const stream = await client.responses.create({ model: "the-model", input: "hello", stream: true });
  for await (const ev of stream) {
    out.types.push(ev.type);
    if (ev.type === "response.output_text.delta") out.text += ev.delta;
  }
} catch (e) {
  out.error = { code: e.code, message: e.message };
}
console.log(JSON.stringify(out));
