// The model card.

function startCard() {
  const { groups, parameters, candidates, sample } = REPORT.card;
  fill("cards", groups.map(cardGroup));
  if (candidates.length) {
    const compared = sample ? `, on a sample of ${count(sample)} rows; all rows then told the rounds of the winner` : "";
    const caption = `Candidates that were compared${compared}`;
    const options = { caption, rows: candidates, chosen: ({ chosen }) => chosen };
    const columns = [
      { title: "Candidate", header: true, cell: ({ params }) => make("code", { textContent: params }) },
      { title: "Held-out risk", number: true, cell: ({ risk }) => fixed(risk, 4) },
      { title: "Rounds", number: true, cell: ({ rounds }) => count(rounds) },
      { title: "Temperature", number: true, cell: ({ temperature }) => fixed(temperature) },
      { title: "Chosen", cell: ({ chosen }) => (chosen ? "yes" : "no") },
    ];
    fill("candidates", make("h3", { textContent: "What was chosen" }), makeTable(columns, options).element);
  }
  const columns = [
    { title: "Parameter", header: true, cell: ([name]) => make("code", { textContent: name }), key: ([name]) => name },
    { title: "Value", cell: ([, value]) => make("code", { textContent: value }) },
    { title: "As by default", cell: ([, , changed]) => (changed ? "no" : "yes"), key: ([, , changed]) => -changed },
  ];
  const sort = { column: 2, descending: false }; // what was changed comes first
  const options = { caption: "Parameters", rows: parameters, sort, chosen: ([, , changed]) => changed };
  fill("parameters", makeTable(columns, options).element);
}

function cardGroup({ title, entries }) {
  const line = ([name, value]) =>
    make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: value }));
  return make("div", {}, make("h3", { textContent: title }), make("dl", {}, entries.map(line)));
}
