// Generates the parts of the site that are not committed: reference/json.md from docs/reference.md; under reference/go a
// page for each public package from its Go documentation; under tables/ the tables of benchmarks/README.md that a page
// shows; and public/report.svg, the picture that the command draws of the example cluster.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const site = dirname(dirname(fileURLToPath(import.meta.url)))
const root = dirname(site)
const module = 'github.com/plimsoll-go/plimsoll'
const source = `https://${module}/blob/main`

// prose escapes the characters that Markdown and Vue would read as markup.
const prose = (line) => line.replace(/[<>{}*_|`#\[\]]/g, (c) => `&#${c.charCodeAt(0)};`)

// markdown turns the text of "go doc -all" into Markdown: declarations as code, comments as paragraphs.
function markdown(text) {
  const out = []
  let code = null
  let block = null
  const close = () => {
    if (block) out.push('```', '')
    block = null
  }
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]
    if (code) {
      code.push(line)
      if (/^[)}]/.test(line)) {
        out.push('```go', ...code, '```', '')
        code = null
      }
      continue
    }
    if (/^(func|type|const|var) /.test(line)) {
      close()
      const name = /^(?:func (?:\([^)]*\) )?|type )(\w+)/.exec(line)
      if (/^type /.test(line)) out.push(`### ${name[1]}`, '')
      if (/[({]$/.test(line)) code = [line]
      else out.push('```go', line, '```', '')
      continue
    }
    if (/^(CONSTANTS|VARIABLES|FUNCTIONS|TYPES)$/.test(line)) {
      close()
      out.push(`## ${line[0]}${line.slice(1).toLowerCase()}`, '')
      continue
    }
    const indent = /^package /.test(lines[0]) && i < first(lines) ? '' : '    '
    const rest = line.startsWith(indent) ? line.slice(indent.length) : line
    if (/^(\t| {4})/.test(rest)) {
      if (!block) out.push('', '```text')
      block = true
      out.push(rest.replace(/^(\t| {4})/, ''))
      continue
    }
    if (block && rest.trim() === '') {
      out.push('')
      continue
    }
    close()
    const heading = /^# (.+)$/.exec(rest)
    const item = /^ +- (.*)$/.exec(rest)
    if (heading) out.push(`**${prose(heading[1])}**`)
    else if (item) out.push(`- ${prose(item[1])}`)
    else out.push(prose(rest))
  }
  close()
  return out.join('\n').replace(/\n{3,}/g, '\n\n')
}

// first is the number of the first line below the package comment.
function first(lines) {
  const at = lines.findIndex((l) => /^(CONSTANTS|VARIABLES|FUNCTIONS|TYPES)$/.test(l))
  return at < 0 ? lines.length : at
}

const packages = execFileSync('go', ['list', '-f', '{{if ne .Name "main"}}{{.ImportPath}}{{end}}', './scheduling/...', './instancetypes/...', './offerings/...', './requirements/...'], { cwd: root, encoding: 'utf8' })
  .split('\n').filter((p) => p && !/\/internal(\/|$)/.test(p) && !/\/testdata\//.test(p))
rmSync(join(site, 'reference/go'), { recursive: true, force: true })
mkdirSync(join(site, 'reference/go'), { recursive: true })
const index = []
for (const path of packages) {
  const text = execFileSync('go', ['doc', '-all', path], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  const short = path.slice(module.length + 1)
  const [head, ...rest] = text.split('\n')
  if (!head.startsWith('package ')) continue
  const body = markdown([head, ...rest].join('\n')).split('\n').slice(1).join('\n')
  const name = short.replace(/\//g, '-')
  writeFileSync(join(site, 'reference/go', `${name}.md`), `---\ntitle: ${short}\noutline: [2, 3]\n---\n\n# ${short}\n\n\`import "${path}"\`\n\n${body}\n`)
  const synopsis = execFileSync('go', ['list', '-f', '{{.Doc}}', path], { cwd: root, encoding: 'utf8' }).trim()
  index.push(`| [${short}](./${name}) | ${prose(synopsis)} |`)
}
writeFileSync(join(site, 'reference/go/index.md'), `# Go packages\n\nGenerated from the documentation of the packages.\n\n| package | purpose |\n|---|---|\n${index.join('\n')}\n`)

const fields = readFileSync(join(root, 'docs/reference.md'), 'utf8').replace(/\]\(schema/g, `](${source}/docs/schema`).replace(`${source}/docs/schema)`, `https://${module}/tree/main/docs/schema)`)
writeFileSync(join(site, 'reference/json.md'), fields)

// table returns some columns of the first table between the markers of a name in benchmarks/README.md.
function table(name, columns) {
  const text = readFileSync(join(root, 'benchmarks/README.md'), 'utf8')
  const match = new RegExp(`<!-- begin: ${name} -->([\\s\\S]*?)<!-- end: ${name} -->`).exec(text)
  if (!match) throw new Error(`benchmarks/README.md has no part ${name}`)
  const rows = match[1].split('\n\n').find((part) => part.startsWith('|')).split('\n').map((l) => l.split('|').slice(1, -1).map((c) => c.trim()))
  const places = columns.map((c) => {
    const at = rows[0].indexOf(c)
    if (at < 0) throw new Error(`benchmarks/README.md, ${name}: no column ${c}`)
    return at
  })
  return rows.map((r) => `| ${places.map((i) => r[i]).join(' | ')} |`).join('\n') + '\n'
}

mkdirSync(join(site, 'public'), { recursive: true })
// The time is that of the outputs on the pages.
execFileSync('go', ['run', './cmd/plimsoll', 'report', '-f', 'examples/consolidate', '--title', 'Example cluster', '--now', '2026-11-21T09:00:00Z', '-o', join(site, 'public/report.svg')], { cwd: root, stdio: 'inherit' })

mkdirSync(join(site, 'tables'), { recursive: true })
for (const [name, columns] of Object.entries({
  corpora: ['corpus', 'plimsoll fast', 'plimsoll', 'karpenter', 'first-fit all types'],
  speed: ['pods', 'planner', 'placed', 'nodes', '$/h', 'CPU', 'allocated'],
  consolidation: ['clusters', 'planner', '$/h before', 'after', 'over the bound', 'pods moved', 'CPU'],
})) writeFileSync(join(site, 'tables', `${name}.md`), table(name, columns))
