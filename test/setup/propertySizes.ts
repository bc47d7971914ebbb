import fc from 'fast-check';

// Unless asked, ten items are as many as it makes of 300 that are allowed: no text of several parts, no page that is full.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
