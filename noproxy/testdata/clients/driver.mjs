// Asks one Node client. A line of JSON in ({"env", "url"}), a line out. It is
// copied beside the packages, which is where imports look for them.
import http from 'node:http';
import https from 'node:https';
import readline from 'node:readline';

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
process.removeAllListeners('warning');
process.on('uncaughtException', () => {});

const timeout = 5000;

function get(url, agentOptions) {
  const module = url.startsWith('https:') ? https : http;
  const options = { timeout };
  if (agentOptions) options.agent = new module.Agent(agentOptions);
  return new Promise((resolve, reject) => {
    const request = module.get(url, options, (response) => {
      response.resume();
      response.on('end', resolve);
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error('timeout')));
    request.on('error', reject);
  });
}

async function withDispatcher(undici, url) {
  const dispatcher = new undici.EnvHttpProxyAgent();
  try {
    const response = await undici.request(url, { dispatcher, signal: AbortSignal.timeout(timeout) });
    await response.body.dump();
  } finally {
    await dispatcher.close();
  }
}

const clients = {
  // The agent is what --use-env-proxy makes of the environment.
  core: () => (url) => get(url, { proxyEnv: { ...process.env } }),
  global: () => (url) => get(url),
  fetch: () => async (url) => {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeout) });
    await response.text();
  },
  undici6: async () => {
    const undici = await import('undici6');
    return (url) => withDispatcher(undici, url);
  },
  undici7: async () => {
    const undici = await import('undici7');
    return (url) => withDispatcher(undici, url);
  },
  axios: async () => {
    const { default: axios } = await import('axios');
    return (url) => axios.get(url, { timeout, maxRedirects: 0 });
  },
  'proxy-agent': async () => {
    const { ProxyAgent } = await import('proxy-agent');
    return (url) => {
      const agent = new ProxyAgent();
      return new Promise((resolve, reject) => {
        const module = url.startsWith('https:') ? https : http;
        const request = module.get(url, { agent, timeout }, (response) => {
          response.resume();
          response.on('end', resolve);
        });
        request.on('timeout', () => request.destroy(new Error('timeout')));
        request.on('error', reject);
      });
    };
  },
  got: async () => {
    const { default: got } = await import('got');
    return (url) => got(url, { retry: { limit: 0 }, timeout: { request: timeout }, followRedirect: false });
  },
  aws: async () => {
    const { STSClient, GetCallerIdentityCommand } = await import('@aws-sdk/client-sts');
    return async (url) => {
      const client = new STSClient({
        region: 'us-east-1',
        endpoint: url,
        maxAttempts: 1,
        credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'none' },
      });
      await client.send(new GetCallerIdentityCommand({}));
    };
  },
};

function setEnvironment(env) {
  for (const name of Object.keys(process.env)) {
    if (/_proxy$/i.test(name) || name === 'REQUEST_METHOD') delete process.env[name];
  }
  Object.assign(process.env, env);
}

const ask = await clients[process.argv[2]]();
for await (const line of readline.createInterface({ input: process.stdin })) {
  const vector = JSON.parse(line);
  setEnvironment(vector.env);
  try {
    await ask(vector.url);
    console.log('ok');
  } catch (error) {
    console.log(`${error?.code ?? ''} ${error?.message ?? error}`.replace(/\s+/g, ' ').slice(0, 300));
  }
}
process.exit(0);
