// A player in JavaScript: buys what it lands on, bids up to the cash that it can spare, builds, makes and accepts no offers.
// One line of JSON comes in for each decision; a line with the number or the text of a legal action goes out. Play against it:
//   python -m monopoly_env.play --players "bot:node bot.js" algorithmic

const RESERVE = 200;

function choose(decision) {
  const legal = decision.legal.map((one) => one.text);
  const me = decision.players[decision.you];
  const first = (start) => legal.find((text) => text.startsWith(start));

  if (decision.decision === "buy") return me.cash >= RESERVE && first("buy") || "decline";
  if (decision.decision === "bid") {
    const standing = Number((decision.about.match(/bid \$([\d,]+)/) ?? ["", "0"])[1].replace(",", ""));
    return (standing < me.cash - RESERVE && first("bid +10")) || "fold";
  }
  if (decision.decision === "reply") return "reject";
  if (decision.decision === "turn") return (me.cash > 2 * RESERVE && first("build")) || first("go on");
  return legal[0]; // a debt, a tax, jail: whatever comes first
}

const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => console.log(JSON.stringify(choose(JSON.parse(line)))));
