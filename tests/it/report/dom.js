// Runs the scripts of a page with the least of a DOM, and prints the text of the page. Keys are
// `key:/`, what is typed into the search `type:words`, clicks on a button `click:TEXT`.
"use strict";
const fs = require("fs");
const page = fs.readFileSync(process.argv[2], "utf8");

class Node {
  constructor(name) { Object.assign(this, { name, attributes: {}, children: [], listeners: {}, value: "", hidden: false }); }
  get tagName() { return this.name.toUpperCase(); }
  get textContent() { return this.children.map((one) => (typeof one === "string" ? one : one.textContent)).join(""); }
  set textContent(text) { this.children = [String(text)]; }
  append(...children) { this.children.push(...children.map((one) => (one instanceof Node ? one : String(one)))); }
  replaceChildren(...children) { this.children = []; this.append(...children); }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  getAttribute(name) { return this.attributes[name] ?? null; }
  removeAttribute(name) { delete this.attributes[name]; }
  addEventListener(name, listener) { (this.listeners[name] ||= []).push(listener); }
  fire(name, event) { for (const listener of this.listeners[name] || []) listener(event); }
  focus() { document.activeElement = this; }
  blur() { document.activeElement = document.body; }
  scrollIntoView() {}
  *all() { for (const one of this.children) if (one instanceof Node) { yield one; yield* one.all(); } }
  text(depth = 0) {
    if (this.name === "script") return "";
    const own = this.children.map((one) => (typeof one === "string" ? one : one.text(depth + 1)));
    return ["tr", "p", "h2", "div", "section", "g"].includes(this.name) ? `${own.join(" ")}\n` : own.join(" ");
  }
}

const document = new Node("#document");
document.body = new Node("body");
document.append(document.body);
document.activeElement = document.body;
document.createElement = (name) => new Node(name);
document.createElementNS = (_, name) => new Node(name);
document.querySelectorAll = (name) => [...document.all()].filter((one) => one.name === name);
document.querySelector = (name) => document.querySelectorAll(name)[0];
document.getElementById = (id) => [...document.all()].find((one) => one.attributes.id === id);
for (const [name, id] of [["p", "span"], ["nav"], ["main"], ["script", "data"]]) {
  const node = new Node(name);
  if (id) node.setAttribute("id", id);
  document.body.append(node);
}
document.getElementById("data").textContent = page.match(/id="data">([^]*?)<\/script>/)[1];
const scripts = [...page.matchAll(/<script nonce="[0-9a-f]+">([^]*?)<\/script>/g)];
for (const [, script] of scripts) new Function("document", script)(document);

for (const argument of process.argv.slice(3)) {
  const [what, text] = [argument.slice(0, argument.indexOf(":")), argument.slice(argument.indexOf(":") + 1)];
  if (what === "key") {
    document.fire("keydown", { key: text, target: document.activeElement, preventDefault() {} });
    console.log(`focus ${document.activeElement.attributes.id}`);
  } else if (what === "type") {
    const search = document.getElementById("search");
    search.value = text;
    search.fire("input", {});
  } else {
    [...document.all()].find((one) => one.name === "button" && one.textContent === text).fire("click", {});
  }
}
console.log(document.body.text().replace(/[ \u00a0]+/g, " "));
