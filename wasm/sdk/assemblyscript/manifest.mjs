// A transform of AssemblyScript's compiler (asc --transform ./manifest.mjs): puts
// the comment of the entry file that begins with "gatewright.manifest" into the
// module, as the custom section of that name. The comment holds JSON.

const section = "gatewright.manifest";

export default class Manifest {
  afterParse(parser) {
    const found = [];
    for (const source of parser.sources) {
      if (source.sourceKind !== 1 /* user entry */) continue;
      for (const [, text] of source.text.matchAll(/\/\*\s*gatewright\.manifest\b([^]*?)\*\//g)) found.push(text);
    }
    if (found.length !== 1) throw new Error(`want one comment that begins with ${section} in the entry file, found ${found.length}`);
    this.manifest = JSON.stringify(JSON.parse(found[0]));
  }

  afterCompile(module) {
    module.addCustomSection(section, new TextEncoder().encode(this.manifest));
  }
}
