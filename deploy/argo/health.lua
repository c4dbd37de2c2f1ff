-- The health of a Binding for Argo CD, which counts a kind without such a script as no health at all. See README.md.
local function result(status, message)
  return { status = status, message = message }
end

local conditions = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    conditions[condition.type] = condition
  end
end

local function current(condition)
  return condition ~= nil and condition.observedGeneration == obj.metadata.generation
end

local accepted = conditions["Accepted"]
local ready = conditions["Ready"]

if current(accepted) and accepted.status == "False" then
  return result("Degraded", accepted.reason .. ": " .. accepted.message)
end
if not current(ready) then
  return result("Progressing", "Waiting for the broker to probe this generation")
end
if ready.status == "True" then
  return result("Healthy", "")
end
if ready.status == "Unknown" then
  return result("Progressing", ready.reason .. ": " .. ready.message)
end
return result("Degraded", ready.reason .. ": " .. ready.message)
