// The heat map of an answer follows the pointer and the arrow keys.
for (const table of document.querySelectorAll("table.heat")) {
  const said = table.parentElement.nextElementSibling;
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td.cell")]);
  const columns = [...table.tHead.rows[0].cells].slice(2);
  const show = (cell) => {
    for (const marked of table.querySelectorAll(".here")) marked.classList.remove("here");
    const row = rows.findIndex((cells) => cells.includes(cell));
    cell.classList.add("here");
    cell.parentElement.cells[0].classList.add("here");
    columns[rows[row].indexOf(cell)].classList.add("here");
    said.textContent = cell.dataset.said;
  };
  const go = (row, column) => {
    const cell = rows[row]?.[column];
    if (!cell) return;
    for (const other of rows.flat()) other.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
  };
  table.addEventListener("pointerover", (event) => event.target.matches("td.cell") && show(event.target));
  table.addEventListener("focusin", (event) => event.target.matches("td.cell") && show(event.target));
  table.addEventListener("keydown", (event) => {
    const row = rows.findIndex((cells) => cells.includes(event.target));
    if (row < 0) return;
    const column = rows[row].indexOf(event.target);
    const to = {
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column], Home: [row, 0], End: [row, rows[row].length - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    go(...to);
  });
}
