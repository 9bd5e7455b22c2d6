(() => {
  "use strict";
  const form = document.getElementById("search"), query = document.getElementById("query");
  const found = document.getElementById("found");
  const plain = text => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const links = [...document.querySelectorAll("#index li")];
  const words = [...document.querySelectorAll(".word")].map((article, n) => ({
    article, link: links[n], name: plain(article.querySelector("h2").textContent),
    near: [...article.querySelectorAll(".near li")].map(item => ({item, name: plain(item.textContent)})),
  }));
  const unknown = document.getElementById("unknown");
  const search = () => {
    const wanted = plain(query.value.trim());
    let byName = 0, byNear = 0;
    for (const word of words) {
      const own = word.name.includes(wanted);
      let near = false;
      for (const {item, name} of word.near) {
        const hit = wanted !== "" && name.startsWith(wanted);
        item.classList.toggle("hit", hit);
        near ||= hit;
      }
      word.article.hidden = word.link.hidden = !own && !near;
      byName += own;
      byNear += near && !own;
    }
    // what is not found may be among the words that the model does not know
    if (unknown) unknown.hidden = byName + byNear > 0 && wanted !== "";
    found.textContent = wanted === "" ? "" : byName + byNear === 0 ? "In no word, and no neighbour begins so." :
      `${byName + byNear} of ${words.length} words: ${byName} by name, ${byNear} by a neighbour.`;
  };
  query.addEventListener("input", search);
  form.addEventListener("submit", event => {
    event.preventDefault();
    const first = words.find(word => !word.article.hidden && word.name.startsWith(plain(query.value.trim()))) ||
      words.find(word => !word.article.hidden);
    if (first) {
      first.article.scrollIntoView();
      first.article.querySelector("h2").focus({preventScroll: true});
    }
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && document.activeElement !== query) {
      event.preventDefault();
      query.focus();
    } else if (event.key === "Escape" && query.value !== "") {
      query.value = "";
      search();
      query.focus();
    }
  });
  const examples = document.getElementById("examples");
  if (examples) examples.addEventListener("click", () => {
    const hidden = document.body.classList.toggle("no-examples");
    examples.textContent = hidden ? "Show examples" : "Hide examples";
  });
  form.hidden = false;
})();
