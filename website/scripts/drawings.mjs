// Draws the pictures of the concepts as SVG into drawings/, which is not committed. Colours are the site's, light and dark.
// Prices, scores and causes are those of the plan for examples/consolidate; the pictures with named pods are sketches.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const site = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(site, 'drawings')
const plan = JSON.parse(execFileSync('go', ['run', './cmd/plimsoll', 'consolidate', '-f', 'examples/consolidate', '--now', '2026-11-21T09:00:00Z', '-o', 'json'],
  { cwd: dirname(site), maxBuffer: 1 << 28 }))
const { summary, steps } = plan
const now = summary.expectedPerHourBefore
const after = summary.expectedPerHourAfter
const rebuilt = summary.rebuilt.expectedPerHour
const monthly = (perHour) => `$${Math.round(perHour * 730).toLocaleString('en-US')}`
const share = (part) => `${(100 * part).toFixed(1)} %`
const barOf = (perHour) => Math.round(400 * perHour / now) // of a bar
mkdirSync(folder, { recursive: true })

const escape = (s) => String(s).replace(/&/g, '&amp;').replace(/</g, '&lt;')
const text = (x, y, s, kind = '', anchor = 'start') => `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${escape(s)}</text>`
const rect = (x, y, w, h, kind) => `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="4" class="${kind}"/>`
const arrow = (x1, y1, x2, y2, kind = '') => `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" class="arrow ${kind}" marker-end="url(#head)"/>`

// node draws a node with its pods, each a box of some width; pods are [width, label, kind].
function node(x, y, w, label, pods, kind = '') {
  const parts = [rect(x, y, w, 64, `node ${kind}`), text(x, y - 7, label, 'label')]
  let at = x + 6
  for (const [width, name, podKind = ''] of pods) {
    parts.push(rect(at, y + 8, width, 48, `pod ${podKind}`), text(at + width / 2, y + 37, name, `name ${podKind}`, 'middle'))
    at += width + 4
  }
  return parts.join('')
}

// bar draws a horizontal bar of a price.
const bar = (y, width, label, price, kind) => text(0, y + 19, label) + rect(190, y, width, 28, `bar ${kind}`) + text(200 + width, y + 19, price)

function draw(name, title, width, height, parts) {
  const style = '.drawing-text,text{fill:currentColor;font-size:13px}.label{font-size:12px;opacity:.8}.name{font-size:12px;fill:var(--vp-c-bg)}.name.away,.name.pale{fill:currentColor}' +
    '.node{fill:none;stroke:var(--drawing-node);stroke-width:2}.node.gone{stroke-dasharray:5 4;stroke:var(--drawing-away)}.node.new{stroke-width:3.5}' +
    '.pod{fill:var(--drawing-pod)}.pod.away{fill:none;stroke:var(--drawing-away);stroke-dasharray:4 3}.pod.pale{fill:var(--drawing-pale)}.pod.held{fill:var(--drawing-away)}' +
    '.bar{fill:var(--drawing-pod)}.bar.pale{fill:var(--drawing-pale)}.bar.good{fill:var(--drawing-node)}.bar.held{fill:var(--drawing-away)}' +
    '.arrow{stroke:currentColor;stroke-width:1.6;fill:none}.dash{stroke:currentColor;stroke-width:1.6;stroke-dasharray:5 4}.bold{font-weight:600}'
  const scoped = style.replace(/(^|\})([^{}]+)\{/g, (_, end, selectors) => `${end}${selectors.split(',').map((s) => `.drawing ${s}`).join(',')}{`)
  writeFileSync(join(folder, `${name}.svg`), `<div class="drawing"><svg viewBox="-8 -4 ${width + 16} ${height + 8}" role="img" aria-label="${escape(title)}"><title>${escape(title)}</title>` +
    `<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>` +
    `<component is="style">${scoped}</component>${parts.join('')}</svg></div>\n`)
}

draw('step', 'A step: a node is launched, pods are evicted in two waves, and the empty node is removed', 700, 330, [
  text(0, 14, '1  launch, and wait until the node is ready', 'bold'),
  node(0, 50, 250, 'node A', [[70, 'web-1'], [70, 'web-2'], [70, 'job']]),
  node(430, 50, 200, 'node B (new, smaller)', [], 'new'),
  text(0, 150, '2  evict: wave 1, then wave 2', 'bold'),
  node(0, 186, 250, 'node A (cordoned)', [[70, 'web-1', 'away'], [70, 'web-2'], [70, 'job', 'away']]),
  node(430, 186, 200, 'node B', [[70, 'web-1'], [70, 'job']], 'new'),
  arrow(262, 206, 418, 206), text(340, 198, 'wave 1', 'label', 'middle'),
  arrow(262, 238, 418, 238), text(340, 256, 'wave 2: web-2', 'label', 'middle'),
  text(0, 296, '3  remove node A, because nothing but DaemonSets runs on it', 'bold'),
])
const bound = 190 + barOf(summary.lowerBoundPerHour)
draw('lower-bound', 'Prices a month of the example cluster: now, after the steps, and the lower bound below which no steps lead', 700, 150, [
  bar(0, barOf(now), 'now', monthly(now), 'pale'), bar(40, barOf(after), 'after these steps', monthly(after), ''),
  bar(80, barOf(summary.lowerBoundPerHour), 'lower bound', monthly(summary.lowerBoundPerHour), 'good'),
  `<line x1="${bound}" y1="34" x2="${bound}" y2="130" class="dash"/>`, text(190, 146, 'after any list of steps the cluster costs at least as much as the lower bound', 'label'),
])
draw('placement', 'Planned placement and the placement that kube-scheduler chooses', 700, 250, [
  text(0, 14, 'planned: two full nodes', 'bold'),
  node(0, 46, 200, 'node 1', [[110, 'api'], [70, 'web']]), node(240, 46, 200, 'node 2', [[110, 'api'], [70, 'web']]),
  text(0, 146, 'kube-scheduler spreads: one pod needs an extra node', 'bold'),
  node(0, 178, 200, 'node 1', [[70, 'web'], [70, 'web']]), node(240, 178, 200, 'node 2', [[110, 'api']]),
  node(480, 178, 200, 'extra node', [[110, 'api', 'held']], 'new'),
])
// scored draws the two shares of a step below y.
function scored(y, number) {
  const step = steps[number]
  const saved = step.savingPerHour / now
  const disrupted = saved / step.score
  return [text(0, y + 14, `step ${number + 1}: score ${step.score.toFixed(2)}`, 'bold'), bar(y + 26, 1000 * saved, 'share of price saved', share(saved), 'good'),
    bar(y + 60, 1000 * disrupted, 'share of disruption', share(disrupted), 'held')]
}
const ranked = steps.map((_, i) => i).filter((i) => steps[i].reason === 'underutilized').sort((a, b) => steps[b].score - steps[a].score)
draw('disruption-score', 'The score of a step is the share of the price that it saves, divided by the share of the disruption that it costs', 700, 196, [
  ...scored(0, ranked[0]), ...scored(104, ranked.at(-1)),
])
draw('rebuilt', 'The same pods on the nodes of today, and on new nodes', 700, 246, [
  text(0, 14, `now: in the example cluster ${summary.nodesBefore} nodes, ${monthly(now)} a month`, 'bold'),
  node(0, 46, 160, 'node 1', [[50, 'api'], [50, '', 'pale']]), node(180, 46, 160, 'node 2', [[50, 'web'], [80, '', 'pale']]), node(360, 46, 160, 'node 3', [[50, 'job'], [80, '', 'pale']]), 
  text(0, 146, `rebuilt from scratch: ${summary.rebuilt.nodes} nodes, ${monthly(rebuilt)}`, 'bold'),
  node(0, 178, 175, 'new node', [[50, 'api'], [50, 'web'], [50, 'job']], 'new'),
  text(200, 215, 'no rule keeps a node in place'),
])
const causes = summary.blocked.slice(0, 4)
draw('blocked-savings', 'Prices a month of the example cluster: after the steps, rebuilt from scratch, and after the steps without each cause', 700, 82 + 40 * causes.length, [
  bar(0, barOf(after), 'after these steps', monthly(after), ''), bar(40, barOf(rebuilt), 'rebuilt from scratch', monthly(rebuilt), 'good'),
  ...causes.flatMap(({ code, perHour, tried }, i) => {
    const y = 80 + 40 * i
    const left = barOf(after - perHour)
    return [text(0, y + 19, `without ${code === 'search' ? 'limits of the search' : code}`), rect(190, y, left, 28, 'bar pale'), rect(190 + left, y, barOf(perHour), 28, 'bar held'),
      text(200 + barOf(after), y + 19, `saves ${tried ? '' : '0 to '}${monthly(perHour)}`)]
  }),
])
draw('node-overhead', 'The cost of a node is its instance and its overhead', 700, 150, [
  text(0, 14, 'four small nodes', 'bold'),
  ...[0, 1, 2, 3].flatMap((i) => [rect(i * 160, 26, 110, 30, 'bar'), rect(i * 160 + 112, 26, 28, 30, 'bar held')]),
  text(0, 92, 'two large nodes', 'bold'),
  ...[0, 1].flatMap((i) => [rect(i * 280, 104, 222, 30, 'bar'), rect(i * 280 + 224, 104, 28, 30, 'bar held')]),
  text(560, 124, 'instance + overhead', 'label'),
])
draw('prices', 'Prices are read in this order: the embedded catalog, then each file of --prices', 700, 110, [
  rect(0, 20, 180, 56, 'node'), text(90, 44, 'embedded catalog', '', 'middle'), text(90, 62, 'dated', 'label', 'middle'),
  arrow(188, 48, 228, 48), rect(236, 20, 180, 56, 'node'), text(326, 44, '--prices spot.json', '', 'middle'), text(326, 62, 'current spot prices', 'label', 'middle'),
  arrow(424, 48, 464, 48), rect(472, 20, 200, 56, 'node'), text(572, 44, '--prices discounts.yaml', '', 'middle'), text(572, 62, 'your agreement', 'label', 'middle'),
])
