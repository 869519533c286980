// Drives the gateway with Vercel's AI SDK, unmodified, on each model. Prints one
// JSON object by model; the Go test compares. Arguments: base URL, key, the models,
// and those whose streams break off, each list with commas between.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [baseURL, apiKey, models, broken] = process.argv.slice(2);
const provider = createOpenAICompatible({ name: "gatewright", baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true });
const quiet = { maxRetries: 0 };
const inputSchema = z.object({ city: z.string() });
const tools = Object.fromEntries(["get_time", "get_weather"].map((name) => [
  name, tool({ inputSchema, execute: async ({ city }) => `${name} in ${city}` }),
]));

// streamed reads a stream to its end; an error in it is thrown.
const streamed = async (params) => {
  let failure;
  const result = streamText({ ...quiet, ...params, onError: ({ error }) => { failure = error; } });
  let text = "";
  for await (const piece of result.textStream) text += piece;
  if (failure) throw failure;
  return { text, usage: await result.usage, steps: await result.steps };
};

// talk lets the SDK run the tools and ask again.
const talk = async (model, stream) => {
  const params = { model, tools, prompt: "Where am I?", stopWhen: stepCountIs(3) };
  const result = stream ? await streamed(params) : await generateText({ ...quiet, ...params });
  return { called: result.steps[0].toolCalls.map((c) => c.toolName), after: result.steps.at(-1).text };
};

const refused = async (f) => {
  try {
    await f();
    return {};
  } catch (e) {
    return { name: e.name ?? typeof e, status: e.statusCode ?? 0 };
  }
};

const out = {};
for (const name of models.split(",")) {
  const model = provider(name);
  const whole = await generateText({ ...quiet, model, prompt: "Say hello." });
  const more = await streamed({ model, prompt: "Say more." });
  const form = await generateObject({ ...quiet, model, prompt: "Is it?", schema: z.object({ ok: z.boolean() }) });
  out[name] = {
    text: whole.text, model: whole.response.modelId, input: whole.usage.inputTokens, output: whole.usage.outputTokens,
    streamed: more.text, streamedOutput: more.usage.outputTokens,
    talk: await talk(model, false), streamedTalk: await talk(model, true),
    ok: form.object.ok,
    error: await refused(() => generateText({ ...quiet, model: provider(`${name}-absent`), prompt: "hi" })),
  };
}
for (const name of broken.split(",")) {
  out[name] = { error: await refused(() => streamed({ model: provider(name), prompt: "Say hello." })) };
}
console.log(JSON.stringify(out));
