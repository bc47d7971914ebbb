// `/` leads to the search, from anywhere but a field.
const search = document.querySelector('#search');
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, textarea, select')) return;
  event.preventDefault();
  search.focus();
  search.select();
});
