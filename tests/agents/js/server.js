// An A2A agent made with the JavaScript SDK: serves its card, and nothing else.
//
//     node server.js PORT [BASE] [--legacy]
//
// Port 0 takes a free one. With --legacy the SDK answers a client that names no version with a 0.3 card. Prints
// `ready PORT` once the port is open.

import { AGENT_CARD_PATH, AgentCard } from "@a2a-js/sdk";
import { agentCardHandler } from "@a2a-js/sdk/server/express";
import express from "express";

const legacy = process.argv.includes("--legacy");
const [port, base = ""] = process.argv.slice(2).filter((argument) => argument !== "--legacy");

const card = (url) =>
  AgentCard.fromJSON({
    name: "Travel",
    description: "Plans a trip.",
    version: "1.0.0",
    supportedInterfaces: [
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ...(legacy ? [{ url, protocolBinding: "JSONRPC", protocolVersion: "0.3" }] : []),
    ],
    capabilities: { streaming: false },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "plan", name: "Plan", description: "Plans a trip.", tags: ["travel"] }],
  });

const app = express();
const server = app.listen(Number(port), "127.0.0.1", () => {
  const { port } = server.address();
  const provider = async () => card(`http://127.0.0.1:${port}${base}/`);
  const options = { agentCardProvider: provider, ...(legacy ? { legacyCompat: { enabled: true } } : {}) };
  app.use(`${base}/${AGENT_CARD_PATH}`, agentCardHandler(options));
  console.log(`ready ${port}`);
});
