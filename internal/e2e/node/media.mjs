// Drives the byte routes of the gateway with the npm SDK, unmodified. Prints one
// JSON object of what it saw and sent; the Go test compares. Arguments: base
// URL, key, base URL of the upstream alone.
import { createHash } from "node:crypto";
import OpenAI, { toFile } from "openai";

const [baseURL, apiKey, upstream] = process.argv.slice(2);
const hash = (bytes) => createHash("sha256").update(bytes).digest("hex");

// sent is the last body as it went on the wire: base64, for the model to be
// replaced in.
let sent;
async function watched(url, init) {
  const body = Buffer.from(await new Response(init.body).arrayBuffer());
  sent = body.toString("base64");
  const headers = new Headers(init.headers);
  if (init.body instanceof FormData) {
    // The boundary is made anew for each reading: send the bytes that were read.
    const boundary = body.toString("latin1").slice(2).split("\r\n", 1)[0];
    headers.set("content-type", `multipart/form-data; boundary=${boundary}`);
  }
  return fetch(url, { ...init, headers, body });
}
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, fetch: watched });
const direct = new OpenAI({ baseURL: upstream, apiKey: "x", maxRetries: 0 });
const model = "the-model";
const out = {};

const sound = Buffer.concat([Buffer.from("RIFF"), Buffer.alloc(1_500_000, "\r\n--\0\xff\r\n", "latin1")]);
const transcript = await client.audio.transcriptions.create({ model, file: await toFile(sound, "näme.wav", { type: "audio/wav" }) });
out.transcription = { text: transcript.text, sent };

let heard = "";
for await (const ev of await client.audio.transcriptions.create({ model, file: await toFile(sound, "a.wav"), stream: true })) {
  if (ev.type === "transcript.text.delta") heard += ev.delta;
  if (ev.type === "transcript.text.done") out.transcriptStream = { same: ev.text === heard, text: heard, sent };
}

const speech = { input: "hello", voice: "alloy", response_format: "wav" };
const spoken = await client.audio.speech.create({ model, ...speech });
out.speech = { type: spoken.headers.get("content-type"), hash: hash(Buffer.from(await spoken.arrayBuffer())), sent };
const reference = await direct.audio.speech.create({ model: "up-name", ...speech });
out.reference = { type: reference.headers.get("content-type"), hash: hash(Buffer.from(await reference.arrayBuffer())) };

const image = await client.images.generate({ model, prompt: "a cat" });
out.image = { png: Buffer.from(image.data[0].b64_json, "base64").toString("latin1", 1, 4), sent };

const edited = await client.images.edit({ model, prompt: "a cat", image: await toFile(Buffer.from("\x89PNG\r\n", "latin1"), "a.png", { type: "image/png" }) });
out.edit = { count: edited.data.length, sent };

const judged = await client.moderations.create({ model, input: ["violence", "peace"] });
out.moderation = { model: judged.model, flags: judged.results.map((r) => r.flagged), sent };

console.log(JSON.stringify(out));
