import { defaultJobLimits } from "@galley/contract/limits"
import { noUsage } from "@galley/contract/usage"
import { Agent, request } from "undici"
import { startGateway } from "./start-gateway.ts"
import { createServer } from "node:http"
const sse=Array.from({length:60},(_,i)=>`data: ${JSON.stringify({choices:[{index:0,delta:{content:"word "+i},finish_reason:i===59?"stop":null}]})}\n\n`).join("")+`data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}\n\ndata: [DONE]\n\n`
const up=createServer((q,r)=>{q.resume().on("end",()=>{r.writeHead(200,{"content-type":"text/event-stream"}).end(sse)})})
await new Promise<void>(r=>up.listen(0,"127.0.0.1",()=>r()))
const port=(up.address() as {port:number}).port
const g=await startGateway({port:0,token:"t".repeat(32),knownSecrets:["github-token-123"],usageSoFar:noUsage,tools:null,shim:null,model:{baseUrl:`http://127.0.0.1:${port}/v1`,apiKey:"key-12345678",upstreamModel:"m",contextTokens:10_000_000,outputTokens:1000,price:null},limits:{...defaultJobLimits,maxModelCalls:1e6,maxModelTokens:1e12}} as never)
const a=new Agent()
const code=(await import("node:fs")).readFileSync("node_modules/.pnpm/undici@8.13.1/node_modules/undici/lib/dispatcher/client-h1.js","utf8")
for(const kb of [5,60,500]){
const text=code.repeat(20).slice(0,kb*1000)
const body=JSON.stringify({model:"review",stream:true,messages:[{role:"system",content:"x"},{role:"user",content:text}]})
const one=async(url:string)=>{const t=performance.now();const r=await request(url,{method:"POST",dispatcher:a,headers:{authorization:"Bearer "+"t".repeat(32),"content-type":"application/json"},body});await r.body.text();if(r.statusCode!==200)throw new Error(String(r.statusCode));return performance.now()-t}
const d:number[]=[],th:number[]=[]
for(let i=0;i<400;i++){const x=await one(`http://127.0.0.1:${port}/v1/chat/completions`);const y=await one(g.url+"/v1/chat/completions");if(i>100){d.push(x);th.push(y)}}
const p=(v:number[],q:number)=>v.toSorted((x,y)=>x-y)[Math.floor(v.length*q)]!
console.log(kb,"kB direct",p(d,.5).toFixed(2),"gateway",p(th,.5).toFixed(2),"added",(p(th,.5)-p(d,.5)).toFixed(2),"p99",p(d,.99).toFixed(2),p(th,.99).toFixed(2))
}
await g.close();up.close();await a.close()
