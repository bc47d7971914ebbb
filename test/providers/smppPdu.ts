import type { DeliverPdu } from '../../providers/smpp/wire.ts';
import { smppSettings, type SmppSettings } from '../../providers/smpp/settings.ts';
import type { SubmitPart } from '../../domain/submission.ts';

/** A route's settings, all defaults but those given. */
export function settings(given: Partial<SmppSettings> = {}): SmppSettings {
  return { ...smppSettings.parse({ host: 'smsc.example' }), ...given };
}

/** A deliver_sm from a phone that says "TAK", but for what is given. */
export function deliverPdu(given: Partial<DeliverPdu> = {}): DeliverPdu {
  return {
    ...{ service_type: '', source_addr_ton: 1, source_addr_npi: 1, source_addr: '48600100200' },
    ...{ dest_addr_ton: 1, dest_addr_npi: 1, destination_addr: '48500600700' },
    ...{ esm_class: 0, protocol_id: 0, data_coding: 0, short_message: Buffer.from('TAK') },
    brokenTlv: null,
    ...given,
  };
}

/** A message of one part, but for what is given. */
export function submitPart(given: Partial<SubmitPart> = {}): SubmitPart {
  return {
    ...{ reference: 'msg_01/1', destination: '+48600100200', sender: 'SKLEP', encoding: 'gsm7', text: 'Tak' },
    ...{
      part: 1,
      parts: 1,
      concatReference: 7,
      channel: 'sms',
      content: null,
      priority: false,
      expiresAt: new Date('2026-11-24T12:00:00Z'),
    },
    ...given,
  };
}
