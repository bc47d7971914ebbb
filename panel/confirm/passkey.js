// Asks the authenticator, and sends what it answers with the form.
const form = document.querySelector('form[data-passkey]');

async function answer() {
  const options = JSON.parse(form.dataset.passkey);
  const { credentials } = navigator;
  const made =
    'rp' in options
      ? await credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : await credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  form.elements.response.value = JSON.stringify(made.toJSON());
  form.submit();
}

if (globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined) {
  form.hidden = false;
  for (const excuse of document.querySelectorAll('[data-without-passkey]')) excuse.hidden = true;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const failed = form.querySelector('.fault');
    failed.hidden = true;
    answer().catch(() => {
      failed.hidden = false;
    });
  });
}
