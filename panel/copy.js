// Buttons that copy the text of the element they name; they are of no use without JavaScript, and hidden then.
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
  });
}
