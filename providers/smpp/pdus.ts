/**
 * PDUs as they are handed over inside this folder: fields under the names of SMPP 3.4 (section 5), what carries text as
 * raw bytes. Nothing here was checked beyond its type: it is what an SMSC sent.
 */

/** A TLV's value by its type: integers as numbers, C-octet strings as text (7 bits, without NUL), others as bytes. */
export interface Tlvs {
  receipted_message_id?: string;
  message_state?: number;
  /** Three octets: network type, error code (5.3.2.31). */
  network_error_code?: Buffer;
  user_message_reference?: number;
  message_payload?: Buffer;
  sar_msg_ref_num?: number;
  sar_total_segments?: number;
  sar_segment_seqnum?: number;
}

/** What stands first in a message of either direction. */
interface MessageHead {
  service_type: string;
  source_addr_ton: number;
  source_addr_npi: number;
  source_addr: string;
  dest_addr_ton: number;
  dest_addr_npi: number;
  destination_addr: string;
  esm_class: number;
}

/** deliver_sm (4.6.1), or data_sm (4.7.1) from the SMSC, which has no short_message: its content is in a TLV. */
export interface DeliverPdu extends MessageHead, Tlvs {
  protocol_id: number;
  data_coding: number;
  /** At most 255 octets, with the user data header where esm_class announces one. Empty where there is none. */
  short_message: Buffer;
  /** The tag of a TLV that runs beyond the PDU: it, and whatever came behind it, is not among these. */
  brokenTlv: number | null;
}

/** What is said in a submit_sm (4.4.1) but for what is the same in all of ours. */
export interface SubmitFields extends MessageHead {
  priority_flag: number;
  /** '' or 16 characters (7.1.1). */
  validity_period: string;
  registered_delivery: number;
  data_coding: number;
  /** At most 254 octets, with the user data header; empty where the text is in `message_payload`. */
  short_message: Buffer;
  message_payload?: Buffer;
  sar_msg_ref_num?: number;
  sar_total_segments?: number;
  sar_segment_seqnum?: number;
}
