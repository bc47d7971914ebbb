import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createAdmission } from '../../api/http/admission.ts';
import { Refused } from '../../domain/refusals.ts';

const response = () => new ServerResponse(new IncomingMessage(new Socket()));

test('exactly as many requests of an account are let in, and as many of them heavy ones', () => {
  const admission = createAdmission({ requests: 3, heavy: 2 });
  const responses = [response(), response(), response()];
  const admitted = responses.map((one) => admission.enter('cl_a', one));
  expect(() => admission.enter('cl_a', response())).toThrow(Refused);
  admission.enter('cl_b', response());

  admitted[0]!.acquireHeavySlot();
  admitted[1]!.acquireHeavySlot();
  admitted[1]!.acquireHeavySlot();
  expect(() => admitted[2]!.acquireHeavySlot()).toThrow(Refused);

  // Whoever is answered makes room for one.
  responses[0]!.emit('close');
  admitted[2]!.acquireHeavySlot();
  admission.enter('cl_a', response());
  expect(() => admission.enter('cl_a', response())).toThrow(Refused);
});
