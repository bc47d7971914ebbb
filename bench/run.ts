import { measureAccepting } from './accept.ts';
import { measureApis } from './apis.ts';
import { startCeiling } from './ceiling/contender.ts';
import { compare } from './compare.ts';
import type { Contender } from './contender.ts';
import { measureFlood } from './flood.ts';
import { type Ground, startGround } from './ground.ts';
import { type Part, readOptions } from './options.ts';
import { startPlain } from './plain/contender.ts';
import { productContender, startProduct } from './product.ts';
import { endAll } from './program.ts';
import { describeSetting, sections, writeDocument } from './report/document.ts';
import type { Results } from './report/tables.ts';

const BATCH = 100;

const options = readOptions(process.argv.slice(2));
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void endAll().finally(() => process.exit(130)));
try {
  await measure(await startGround(options));
} finally {
  await endAll();
}

async function measure(ground: Ground): Promise<void> {
  const setting = await describeSetting(options, ground);
  const results: Results = {};
  const part = async (name: Part, work: () => Promise<Partial<Results>>): Promise<void> => {
    if (!options.parts.includes(name)) return;
    console.error(`${name} …`);
    // After every part: what is measured is not lost with what comes after it.
    await writeDocument(setting, Object.assign(results, await work()), options);
  };
  const { messages, rounds } = options;
  const ceiling = await startCeiling(ground);
  const product = await startProduct(ground);
  await part('compare', async () => {
    const contenders: Contender[] = [
      ceiling,
      ...(options.contenders.includes('plain') ? [await startPlain(ground)] : []),
      productContender(ground, product, 1),
      productContender(ground, product, BATCH),
    ].filter(({ key }) => options.contenders.includes(key));
    return { compare: await compare(ground, contenders, options) };
  });
  await part('accept', async () => {
    const requests = Math.ceil(messages / 5);
    return { accept: await measureAccepting(ground, product, { requests, rounds }) };
  });
  await part('flood', async () => ({ flood: await measureFlood(ground, product, options.flood) }));
  await part('apis', async () => ({ apis: await measureApis(ground, product, { messages, rounds }) }));
  const tables = sections(results).filter((text) => text.startsWith('|'));
  console.log(tables.join('\n\n'));
}
