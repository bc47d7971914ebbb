// 500 SMS of 13 parts, or ten templates of an MMS.
const LIGHT_CHARACTERS = 1_000_000;

/** Whether a request that makes or lists so many characters is one of an account's heavy ones. */
export const areHeavy = (characters: number): boolean => characters > LIGHT_CHARACTERS;
