// Presses the only button of a page, for the person who asked for it in this browser.
const press = () => document.querySelector('form[data-submit]')?.requestSubmit();
if (document.prerendering) document.addEventListener('prerenderingchange', press, { once: true });
else press();
