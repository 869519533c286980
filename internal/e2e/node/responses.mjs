// Drives the gateway's Responses with the npm SDK, unmodified. Prints one JSON
// object of what it saw; the Go test compares. Arguments: base URL, key, another
// key, and the id of an answer to continue ("" = none).
import OpenAI from "openai";

const [baseURL, apiKey, otherKey, previous] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = "the-model";
const out = {};

const first = await client.responses.create({ model, input: "hello", previous_response_id: previous || undefined });
out.first = { id: first.id, model: first.model, text: first.output_text, tokens: first.usage.total_tokens };

const stream = await client.responses.create({ model, input: "more", previous_response_id: first.id, stream: true });
out.stream = { text: "", types: [], models: [], numbers: true };
let number = -1;
for await (const ev of stream) {
  out.stream.types.push(ev.type);
  if (ev.type === "response.output_text.delta") out.stream.text += ev.delta;
  if (ev.response && !out.stream.models.includes(ev.response.model)) out.stream.models.push(ev.response.model);
  if (ev.response) out.stream.id = ev.response.id;
  out.stream.numbers &&= ev.sequence_number === ++number;
}

const helper = client.responses.stream({ model, input: "again", previous_response_id: out.stream.id });
out.helper = { text: (await helper.finalResponse()).output_text };

const resumed = await client.responses.retrieve(out.stream.id, { stream: true, starting_after: 3 });
out.resumed = [];
for await (const ev of resumed) out.resumed.push(ev.sequence_number);

const fetched = await client.responses.retrieve(first.id);
const items = [];
for await (const item of client.responses.inputItems.list(first.id)) items.push(item.role);
out.fetched = { text: fetched.output_text, model: fetched.model, items };
out.count = (await client.responses.inputTokens.count({ model, input: "hello there" })).input_tokens;
out.compacted = (await client.responses.compact({ model, input: "hello there" })).object;

const stranger = new OpenAI({ baseURL, apiKey: otherKey, maxRetries: 0 });
const refused = async (f) => {
  try {
    await f();
    return {};
  } catch (e) {
    return { status: e.status, code: e.code, param: e.param };
  }
};
out.stranger = {
  continued: await refused(() => stranger.responses.create({ model, input: "more", previous_response_id: first.id })),
  fetched: await refused(() => stranger.responses.retrieve(first.id)),
  referred: await refused(() => stranger.responses.create({ model, input: [{ type: "item_reference", id: first.output.at(-1).id }] })),
};
const own = await client.responses.create({ model, input: [{ type: "item_reference", id: first.output.at(-1).id }] });
out.referred = own.output_text;

await client.responses.delete(out.stream.id);
out.deleted = await refused(() => client.responses.retrieve(out.stream.id));
console.log(JSON.stringify(out));
